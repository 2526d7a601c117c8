// The space pane: a heat map over one or two -D parameters. A cell is the worst ways, or the conflicts, of the sketch with
// those values, or what a sweep measured there; a click opens the sketch at that point.

import { problemOf, type App } from "./app";
import { readSweep, seconds, type Measured } from "./measured";
import { h, number, plural, replace, s } from "./dom";
import { scale } from "./palette";
import { sans } from "./picture";
import { saveButtons } from "./save";
import { theme, type Theme } from "./theme";
import type { Space } from "./types";

export class SpacePane {
  readonly el = h("section", { class: "pane", id: "pane-space", role: "tabpanel", "aria-labelledby": "tab-space" });
  private readonly field = h("input", {
    id: "space", size: 26, autocomplete: "off", spellcheck: "false", placeholder: "PAD=0..8,CHUNK=16..64:8", "aria-label": "space",
  });
  private readonly measure = h("select", { id: "measure", "aria-label": "what a cell shows" },
    h("option", { value: "ways" }, "worst ways"), h("option", { value: "conflicts" }, "conflicts"));
  private readonly file = h("input", { id: "sweep-file", type: "file", accept: ".json,application/json", "aria-label": "sweep file" });
  private readonly bytes = h("input", { id: "sweep-bytes", size: 10, placeholder: "bytes moved", "aria-label": "bytes that one run moves, to show TB/s" });
  private measured: Measured | null = null;
  private readonly note = h("p", { class: "soft", "aria-live": "polite" });
  private readonly map = h("div", { class: "picturebox" });
  private space: Space | null = null;
  private asked = "";
  private running: AbortController | null = null;

  constructor(private readonly app: App) {
    const form = h("form", { class: "panehead", onsubmit: (e) => {
      e.preventDefault();
      this.app.set({ space: this.field.value.trim() });
    } },
      h("label", {}, "Parameters ", this.field), h("button", { type: "submit" }, "Map"), h("label", {}, "Cell ", this.measure),
      h("span", { class: "grow" }), saveButtons(() => "space", () => this.map.querySelector("svg")));
    this.measure.addEventListener("change", () => this.app.set({ measure: this.measure.value === "conflicts" ? "conflicts" : "ways" }));
    this.file.addEventListener("change", () => void this.read());
    this.bytes.addEventListener("input", () => this.render());
    this.el.append(form, h("div", { class: "panehead" }, h("label", {}, "Measured sweep ", this.file), this.bytes,
      h("button", { type: "button", id: "sweep-drop", class: "quiet", onclick: () => this.drop() }, "Back to counts")), this.note, this.map);
  }

  private async read(): Promise<void> {
    const file = this.file.files?.[0];
    if (!file) return;
    try {
      this.measured = readSweep(file.name, await file.text());
      this.render();
    } catch (err) {
      this.drop();
      this.note.textContent = err instanceof Error ? err.message : String(err);
    }
  }

  private drop(): void {
    this.measured = null;
    this.file.value = "";
    this.asked = "";
    this.render();
  }

  /** showMeasured draws the file's sweep. */
  private showMeasured(m: Measured): void {
    const bytes = Number(this.bytes.value) || 0;
    const [across, down] = m.params;
    const points: Drawn[] = [];
    for (const a of across!.values) {
      for (const d of down?.values ?? [""]) {
        const p = m.points.get(down ? `${a} ${d}` : a);
        const failed = !p || Number.isNaN(p.median);
        const rate = p && bytes > 0 ? bytes / p.median / 1e12 : 0;
        points.push({
          said: (p?.said ?? "not measured") + (rate ? `, ${rate.toPrecision(3)} TB/s` : ""), failed, value: failed ? 0 : bytes > 0 ? rate : p.median,
          text: failed ? "–" : bytes > 0 ? rate.toPrecision(3) : seconds(p.median).replace(" ", "\u202f"),
        });
      }
    }
    const caption = bytes > 0 ? "cell: TB/s, from the median time and the bytes moved; more is lighter" : "cell: median time; less is lighter";
    this.note.textContent = `${m.name}: ${plural(points.filter((p) => !p.failed).length, "measured point")}. Click a cell to open the sketch there.`;
    replace(this.map, draw({ params: m.params, points, title: "measured", caption, high: bytes > 0, wide: true }, this.map.clientWidth || 640, theme(),
      this.current(), (values) => this.open(values)));
  }

  render(): void {
    this.bytes.hidden = !this.measured;
    byIdIn(this.el, "sweep-drop").hidden = !this.measured;
    if (this.measured) return this.showMeasured(this.measured);
    const { space, measure } = this.app.state;
    if (document.activeElement !== this.field) this.field.value = space || suggestion(this.app.state.source);
    this.measure.value = measure;
    if (!space) {
      replace(this.map);
      this.note.textContent = "One or two names that the sketch uses as constants, macros or parameters, each with its values: " +
        "0..8 steps by 1, 16..64:8 by 8, 16..256*2 doubles. The first runs across, the second down.";
      return;
    }
    const question = JSON.stringify({ ...this.question(), space });
    if (question !== this.asked) void this.compute(question);
    else this.show();
  }

  /** question is the input without the definitions that the space sets itself. */
  private question() {
    const names = new Set(this.app.state.space.split(",").filter((p) => p.includes("=")).map((p) => p.split("=")[0]!.trim()));
    const input = this.app.input();
    return { ...input, defines: (input.defines ?? []).filter((d) => !names.has(d.split("=")[0]!)), space: this.app.state.space };
  }

  private async compute(question: string): Promise<void> {
    this.asked = question;
    this.running?.abort();
    const mine = (this.running = new AbortController());
    this.note.textContent = "Computing…";
    this.el.setAttribute("aria-busy", "true");
    try {
      const space = await this.app.backend.call<Space>("space", this.question(), mine.signal);
      if (mine.signal.aborted) return;
      this.space = space;
      this.show();
    } catch (err) {
      if (mine.signal.aborted) return;
      this.space = null;
      replace(this.map);
      this.note.textContent = problemOf(err).message;
    }
    this.el.removeAttribute("aria-busy");
  }

  private show(): void {
    const space = this.space;
    if (!space) return;
    const failed = space.points.filter((p) => p.error).length;
    const free = space.points.filter((p) => !p.error && p.conflicts === 0).length;
    this.note.textContent = `${plural(space.points.length, "point")}, ${number(free)} free of conflicts` +
      (failed ? `, ${number(failed)} without figures` : "") + (space.stopped ? "; stopped for lack of time, the rest is missing" : "") +
      ". Click a cell to open the sketch there.";
    const measure = this.app.state.measure;
    const points = space.points.map((p) => {
      const value = measure === "ways" ? p.ways : p.conflicts;
      return {
        said: p.error ?? `${plural(p.ways, "way")}, ${plural(p.wavefronts, "wavefront")}, ideal ${p.ideal}`, failed: !!p.error, value,
        text: p.error ? "–" : String(value),
      };
    });
    replace(this.map, draw({
      params: space.params, points, title: measure, high: false, wide: false,
      caption: `cell: ${measure === "ways" ? "worst ways of one request; 1 is free" : "conflicts in all; 0 is free"}`,
    }, this.map.clientWidth || 640, theme(), this.current(), (values) => this.open(values)));
  }

  private current(): Map<string, string> {
    return new Map(this.app.state.defines.map((d) => [d.split("=")[0]!, d.split("=")[1] ?? "1"] as const));
  }

  private open(values: [string, string][]): void {
    const names = new Set(values.map(([n]) => n));
    const defines = this.app.state.defines.filter((d) => !names.has(d.split("=")[0]!));
    this.app.set({ defines: [...defines, ...values.map(([n, v]) => `${n}=${v}`)], warp: -1, execution: -1, step: -1 });
    this.el.dispatchEvent(new CustomEvent("opened"));
  }
}

/** suggestion proposes a space over the integer constants of a sketch. */
function suggestion(source: string): string {
  const names = [...source.matchAll(/(?:#define\s+(\w+)\s+(\d+)\s*$|constexpr\s+(?:int|unsigned|size_t)\s+(\w+)\s*=\s*(\d+)\s*;)/gm)]
    .map((m) => ({ name: (m[1] ?? m[3])!, value: Number(m[2] ?? m[4]) }));
  const pads = names.filter((n) => /pad|skew/i.test(n.name)), rest = names.filter((n) => !pads.includes(n));
  const parts = pads.slice(0, 1).map((n) => `${n.name}=0..${Math.max(8, n.value)}`);
  for (const n of rest.slice(0, 2 - parts.length)) {
    const step = Math.max(1, Math.floor(n.value / 8));
    parts.push(`${n.name}=${step}..${n.value * 2}:${step}`);
  }
  return parts.join(",");
}

/** A Drawn point is a cell of the map. */
interface Drawn {
  said: string;
  text: string;
  value: number;
  failed: boolean;
}

interface Map2D {
  params: Space["params"];
  points: Drawn[]; // the last parameter varies fastest
  title: string;
  caption: string;
  high: boolean; // more is better
  wide: boolean; // texts need room
}

function byIdIn(el: Element, id: string): HTMLElement {
  return el.querySelector<HTMLElement>(`#${id}`)!;
}

/** shade returns a painter: light is good, dark is bad, by the logarithm of the value. */
function shade(m: Map2D): (v: number) => { fill: string; ink: string } {
  const values = m.points.filter((p) => !p.failed).map((p) => p.value);
  const lift = m.wide ? 0 : 1; // counts may be 0
  const low = Math.log2(Math.min(...values) + lift), high = Math.log2(Math.max(...values) + lift);
  return (v) => {
    const t = high > low ? (Math.log2(v + lift) - low) / (high - low) : m.high ? 1 : 0;
    return scale(0.1 + 0.85 * (m.high ? t : 1 - t));
  };
}

function draw(m: Map2D, room: number, t: Theme, current: Map<string, string>, open: (v: [string, string][]) => void): SVGSVGElement {
  const across = m.params[0]!, down = m.params[1];
  const columns = across.values, rows = down?.values ?? [""];
  const left = 22 + 7.5 * Math.max(...rows.map((r) => r.length), (down?.name.length ?? 0) + 1), top = 44;
  const w = Math.max(m.wide ? 50 : 16, Math.min(m.wide ? 64 : 44, Math.floor((room - left - 10) / columns.length))), height = 24;
  const width = left + w * columns.length + 8, total = top + height * rows.length + 26;
  const title = `${m.title} by ${across.name}${down ? ` and ${down.name}` : ""}`;
  const paintOf = shade(m);
  const svg = s("svg", {
    xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${total}`, width, height: total, role: "group", class: "picture", "font-family": sans, "font-size": 10,
    "aria-label": title,
  }, s("title", {}, title), s("rect", { width, height: total, fill: t.paper }),
    s("text", { x: left, y: 13, fill: t.ink, "font-weight": 600, "font-size": 11 }, `${across.name} →`),
    down ? s("text", { x: 4, y: top - 6, fill: t.ink, "font-weight": 600, "font-size": 11 }, `${down.name} ↓`) : "");
  columns.forEach((c, i) => svg.append(s("text", { x: left + i * w + w / 2, y: top - 6, "text-anchor": "middle", fill: t.soft }, c)));
  rows.forEach((r, j) => svg.append(s("text", { x: left - 6, y: top + j * height + 15.5, "text-anchor": "end", fill: t.soft }, r)));
  columns.forEach((c, i) => rows.forEach((r, j) => {
    const p = m.points[i * rows.length + j];
    if (!p) return;
    const values: [string, string][] = [[across.name, c], ...(down ? ([[down.name, r]] as [string, string][]) : [])];
    const name = values.map(([n, x]) => `${n}=${x}`).join(" ");
    const here = values.every(([n, v]) => current.get(n) === v);
    const paint = p.failed ? { fill: t.stripe, ink: t.soft } : paintOf(p.value);
    const said = m.wide ? p.said : `${name}: ${p.said}`;
    const go = () => open(values);
    svg.append(s("g", {
      role: "button", tabindex: "0", class: "point", "aria-label": said, "data-point": name, "data-value": p.failed ? null : p.value,
      onclick: go, onkeydown: (e) => {
        const key = (e as KeyboardEvent).key;
        if (key === "Enter" || key === " ") {
          e.preventDefault();
          go();
        }
      },
    }, s("title", {}, said),
      s("rect", { x: left + i * w + 0.75, y: top + j * height + 0.75, width: w - 1.5, height: height - 1.5, rx: 2, fill: paint.fill,
        stroke: here ? t.accent : "none", "stroke-width": 2.5 }),
      s("text", { x: left + i * w + w / 2, y: top + j * height + 15.5, "text-anchor": "middle", fill: paint.ink, "pointer-events": "none" },
        m.wide ? p.text : short(p, w))));
  }));
  svg.append(s("text", { x: left, y: total - 8, fill: t.soft }, m.caption));
  return svg;
}

function short(p: Drawn, width: number): string {
  if (p.failed || p.text.length * 6 <= width - 2) return p.text;
  return p.value >= 1e6 ? `${Math.round(p.value / 1e6)}M` : `${Math.round(p.value / 1e3)}k`;
}
