// A panel as SVG: rows of memory by banks, cells coloured by pass and labelled by lane. Everything is set by attributes, so
// that the same element is what the page shows and what is saved.

import { s, plural, ranges } from "./dom";
import { passPaint } from "./palette";
import type { Theme } from "./theme";
import type { Cell, Panel } from "./types";

/** How far the unit is: passes before `now` are done, those after it wait. now -1: before the first pass. */
export interface Progress {
  done: number; // passes done
  now: number; // pass being served, or -1
  placed: boolean; // banks and rows are known
}

export interface PictureOptions {
  width: number;
  theme: Theme;
  title: string;
  small?: boolean; // no labels in cells: for pictures side by side
  progress?: Progress;
}

export const sans = "system-ui, 'Segoe UI', 'Liberation Sans', Arial, sans-serif";
const mono = "ui-monospace, 'Liberation Mono', Menlo, Consolas, monospace";

export function describe(p: Panel): string {
  const t = p.totals;
  if (p.refused) return p.refused;
  return `${plural(t.wavefronts, "wavefront")}, ideal ${t.ideal}, ${plural(t.conflicts, "conflict")}, ${plural(t.ways, "way")}`;
}

interface Frame {
  panel: Panel;
  o: PictureOptions;
  left: number;
  cell: number;
  height: number; // of a row
  busiest: number;
}

/** draw returns the picture of a panel. */
export function draw(panel: Panel, o: PictureOptions): SVGSVGElement {
  const left = o.small ? 4 : 40;
  const cell = Math.max(o.small ? 5 : 15, Math.floor((o.width - left - 6) / panel.banks));
  const many = panel.passes.length > 1;
  const height = o.small ? Math.max(6, Math.min(9, cell)) : many ? Math.max(24, Math.min(30, cell + 4)) : 20;
  const f: Frame = { panel, o, left, cell, height, busiest: Math.max(0, ...panel.counts.map((c) => c.ways)) };
  const top = o.small ? 12 : 44;
  const body = s("g", {});
  let y = top;
  for (const row of panel.rows) {
    if (row.gap > 0) {
      body.append(gap(f, y, row.gap));
      y += o.small ? 4 : 14;
    }
    body.append(rowOf(f, row, y));
    y += height;
  }
  const width = left + cell * panel.banks + 6;
  const total = y + 4;
  const svg = s("svg", {
    xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${total}`, width, height: total, role: "img", class: "picture",
    "font-family": sans, "font-size": 10,
  });
  svg.append(
    s("title", {}, o.title || panel.title || "banks"),
    s("desc", {}, spoken(panel)),
    s("rect", { width, height: total, fill: o.theme.paper }),
    header(f),
    body,
  );
  return svg;
}

/** spoken says in words what the picture shows. */
function spoken(p: Panel): string {
  const busy = p.counts.filter((c) => c.ways > 1).map((c) => c.bank);
  const worst = busy.length ? `Banks with conflicts: ${ranges(busy)}.` : "No bank is asked twice.";
  return `${p.op} of ${p.width} bytes per lane, lanes ${ranges(p.active)}: ${describe(p)}. ${worst}`;
}

function header(f: Frame): SVGGElement {
  const { panel, o, left, cell } = f;
  const g = s("g", {});
  if (!o.small) {
    g.append(
      s("text", { x: left - 6, y: 14, "text-anchor": "end", fill: o.theme.soft, "font-size": 9 }, "bank"),
      s("text", { x: left - 6, y: 34, "text-anchor": "end", fill: o.theme.soft, "font-size": 9 }, "ways"),
    );
  }
  for (const c of panel.counts) {
    const x = left + c.bank * cell;
    if (!o.small) {
      const size = cell < 17 ? 8 : 9;
      g.append(s("text", { x: x + cell / 2, y: 14, "text-anchor": "middle", fill: o.theme.soft, "font-size": size }, String(c.bank)));
    }
    if (c.ways === 0) continue;
    // A bar as high as its share of the busiest bank, and the number where there is room: height is not the only sign.
    const max = o.small ? 8 : 16;
    const bar = Math.max(2, (max * c.ways) / Math.max(1, f.busiest));
    const base = o.small ? 10 : 37;
    const hot = c.ways > 1;
    g.append(
      s("rect", { x: x + 1, y: base - bar, width: cell - 2, height: bar, fill: hot ? o.theme.warn : o.theme.line, rx: 1 },
        s("title", {}, `bank ${c.bank}: ${plural(c.lanes, "lane")}, ${plural(c.words, "word")}, ${plural(c.ways, "way")}`)),
    );
    if (!o.small && hot) {
      const inside = bar >= 11;
      g.append(s("text", {
        x: x + cell / 2, y: inside ? base - bar + 9.5 : base - bar - 2, "text-anchor": "middle", "font-size": 9,
        fill: inside ? o.theme.paper : o.theme.warn, "font-weight": 600,
      }, String(c.ways)));
    }
  }
  return g;
}

function gap(f: Frame, y: number, rows: number): SVGGElement {
  const { o, left, cell, panel } = f;
  if (o.small) return s("g", {});
  return s("g", {},
    s("text", { x: left + 4, y: y + 10.5, fill: o.theme.soft, "font-size": 9 }, `⋯ ${plural(rows, "row")} not touched`),
    s("line", { x1: left + 110, x2: left + cell * panel.banks, y1: y + 7, y2: y + 7, stroke: o.theme.line, "stroke-dasharray": "2 3" }),
  );
}

function rowOf(f: Frame, row: Panel["rows"][number], y: number): SVGGElement {
  const { o, left, cell, height, panel } = f;
  const g = s("g", {});
  if (!o.small) {
    g.append(s("text", {
      x: left - 6, y: y + height / 2 + 3.5, "text-anchor": "end", fill: o.theme.soft, "font-size": 9.5,
    }, String(row.row)));
  }
  g.append(s("rect", { x: left, y: y + 0.5, width: cell * panel.banks, height: height - 1, fill: o.theme.stripe }));
  if (!o.small) {
    for (let b = 1; b < panel.banks; b++) {
      const x = left + b * cell;
      g.append(s("line", { x1: x, x2: x, y1: y + 0.5, y2: y + height - 0.5, stroke: o.theme.line, "stroke-width": b % 8 === 0 ? 1 : 0.4 }));
    }
  }
  for (const c of row.cells) if (c.run > 0) g.append(cellOf(f, c, row.row, y));
  return g;
}

type Look = "done" | "now" | "wait" | "plain";

function lookOf(c: Cell, p: Progress | undefined): { pass: number; look: Look } {
  const first = c.serves[0]?.pass ?? 0;
  if (!p) return { pass: first, look: "plain" };
  if (c.serves.some((v) => v.pass === p.now)) return { pass: p.now, look: "now" };
  const next = c.serves.find((v) => v.pass >= p.done);
  return next ? { pass: next.pass, look: "wait" } : { pass: c.serves[c.serves.length - 1]?.pass ?? 0, look: "done" };
}

function cellOf(f: Frame, c: Cell, row: number, y: number): SVGGElement {
  const { o, left, cell, height, panel } = f;
  const { pass, look } = lookOf(c, o.progress);
  const paint = passPaint(pass, panel.passes.length);
  const x = left + c.bank * cell, w = cell * c.run;
  const hidden = look === "wait";
  const names = passNames(panel, c);
  const label = `${panel.lanes > 0 ? "lane" : ""}${c.lanes.length > 1 ? "s" : ""} ${ranges(c.lanes)}`;
  const g = s("g", { class: "cell", "data-lanes": c.lanes.join(" "), "data-look": look });
  g.append(
    s("title", {}, `${label}: word ${c.word}, bank ${c.bank}${c.run > 1 ? `-${c.bank + c.run - 1}` : ""}, row ${row}, pass ${names}`),
    s("rect", {
      x: x + 0.75, y: y + 1, width: w - 1.5, height: height - 2, rx: o.small ? 1 : 2.5,
      fill: hidden ? o.theme.paper : paint.fill, stroke: look === "now" ? o.theme.ink : hidden ? o.theme.soft : paint.fill,
      "stroke-width": look === "now" ? 2 : 1, "stroke-dasharray": hidden ? "2 2" : null, opacity: look === "done" ? 0.6 : null,
    }),
  );
  if (o.small) return g;
  const ink = hidden ? o.theme.soft : paint.ink;
  const two = panel.passes.length > 1;
  const middle = x + w / 2;
  g.append(s("text", {
    x: middle, y: two ? y + height / 2 - 0.5 : y + height / 2 + 3.5, "text-anchor": "middle", fill: ink,
    "font-size": 9.5, "font-family": sans, "pointer-events": "none",
  }, laneLabel(c, w)));
  if (two) {
    g.append(s("text", {
      x: middle, y: y + height - 4.5, "text-anchor": "middle", fill: ink, "font-size": 8.5, "font-family": mono,
      "pointer-events": "none", opacity: 0.9,
    }, names.length * 5 <= w ? names : names.slice(0, 1) + "…"));
  }
  return g;
}

function passNames(p: Panel, c: Cell): string {
  const names = c.serves.map((v) => p.passes[v.pass]?.name ?? "?");
  return names.length > 2 ? `${names[0]}-${names[names.length - 1]}` : names.join(",");
}

function laneLabel(c: Cell, width: number): string {
  const text = ranges(c.lanes);
  return text.length * 5.4 <= width ? text : `×${c.lanes.length}`;
}
