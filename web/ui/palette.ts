// The colours of passes: viridis, light first, the same samples and the same arithmetic as bankmap.PassColor, so that a
// picture looks alike in the page, on a terminal and in an exported file.

const viridis: [number, number, number][] = [
  [0x44, 0x01, 0x54], [0x47, 0x2d, 0x7b], [0x3b, 0x52, 0x8b], [0x2c, 0x72, 0x8e], [0x21, 0x91, 0x8c],
  [0x28, 0xae, 0x80], [0x5e, 0xc9, 0x62], [0xad, 0xdc, 0x30], [0xfd, 0xe7, 0x25],
];

export interface Paint {
  fill: string;
  ink: string;
}

/** scale returns the colour at t, from 0 (dark) to 1 (light). */
export function scale(t: number): Paint {
  const at = Math.min(Math.max(t, 0), 1) * (viridis.length - 1);
  const k = Math.min(Math.floor(at), viridis.length - 2);
  const a = viridis[k]!, b = viridis[k + 1]!;
  const rgb = a.map((v, i) => Math.round(v + (b[i]! - v) * (at - k)));
  const lin = (v: number) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);
  const l = 0.2126 * lin(rgb[0]!) + 0.7152 * lin(rgb[1]!) + 0.0722 * lin(rgb[2]!) + 0.05;
  const hex = (v: number) => v.toString(16).padStart(2, "0");
  return { fill: "#" + rgb.map(hex).join(""), ink: l * l > 1.05 * 0.05 ? "#000000" : "#ffffff" };
}

/** passPaint returns the colour of pass i of n in the order served. */
export function passPaint(i: number, n: number): Paint {
  const light = 0.92, dark = 0.1;
  return scale(n > 1 ? light + ((dark - light) * i) / (n - 1) : 0.6);
}

/** heat returns a class for an excess factor (wavefronts over ideal): 0 none, then doubling up to 5. */
export function heat(wavefronts: number, ideal: number): number {
  if (ideal <= 0 || wavefronts <= ideal) return 0;
  return Math.min(5, Math.max(1, Math.ceil(Math.log2(wavefronts / ideal))));
}
