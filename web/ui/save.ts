// Saving pictures and pages.

import { h } from "./dom";

export function download(name: string, data: Blob): void {
  const url = URL.createObjectURL(data);
  const a = h("a", { href: url, download: name });
  document.body.append(a);
  a.click();
  a.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

export function svgText(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  copy.querySelectorAll("[class]").forEach((el) => el.removeAttribute("class"));
  return '<?xml version="1.0" encoding="UTF-8"?>\n' + new XMLSerializer().serializeToString(copy) + "\n";
}

export function saveSVG(name: string, svg: SVGSVGElement): void {
  download(`${name}.svg`, new Blob([svgText(svg)], { type: "image/svg+xml" }));
}

/** savePNG draws the picture at twice its size. */
export async function savePNG(name: string, svg: SVGSVGElement): Promise<void> {
  const url = URL.createObjectURL(new Blob([svgText(svg)], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    await new Promise((resolve, reject) => {
      image.onload = resolve;
      image.onerror = () => reject(new Error("the picture cannot be drawn"));
      image.src = url;
    });
    const scale = 2;
    const canvas = h("canvas", { width: svg.width.baseVal.value * scale, height: svg.height.baseVal.value * scale });
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (blob) download(`${name}.png`, blob);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** saveButtons are the two buttons that every picture has. */
export function saveButtons(name: () => string, svg: () => SVGSVGElement | null): HTMLElement {
  const on = (f: (name: string, svg: SVGSVGElement) => unknown) => () => {
    const el = svg();
    if (el) void f(name(), el);
  };
  return h("span", { class: "saves" },
    h("button", { type: "button", class: "quiet", onclick: on(saveSVG), title: "save this picture as SVG" }, "SVG"),
    h("button", { type: "button", class: "quiet", onclick: on(savePNG), title: "save this picture as PNG" }, "PNG"),
  );
}
