// The editor: a text area over a painted copy of itself, beside a gutter with the counts of every line.

import type { App } from "./app";
import { h, narrow, plural, replace } from "./dom";
import { heat } from "./palette";
import type { Diagnostic, Site } from "./types";

const tokens = new RegExp(
  [
    /(\/\/.*|\/\*[^]*?\*\/)/.source,
    /("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')/.source,
    /(^[ \t]*#.*$)/.source,
    /\b(__\w+__|__launch_bounds__|extern|const|constexpr|static|template|typename|struct|using|return|if|else|for|while|do|break|continue|auto|reinterpret_cast|static_cast|asm|volatile|void|bool|char|short|int|long|unsigned|signed|float|double|half|__half2?|__nv_bfloat162?|u?int(?:8|16|32|64)_t|size_t|(?:float|int|uint|double)[1-4])\b/.source,
    /\b(threadIdx|blockIdx|blockDim|gridDim|warpSize)\b/.source,
    /\b(0[xX][\da-fA-F]+|\d[\w.]*)\b/.source,
  ].join("|"),
  "gm",
);
const kinds = ["comment", "string", "macro", "word", "builtin", "number"];

interface LineSites {
  sites: number[];
  requests: number;
  wavefronts: number;
  ideal: number;
  conflicts: number;
  unresolved: number;
  faulted: number;
}

export class Editor {
  readonly el: HTMLElement;
  private readonly text: HTMLTextAreaElement;
  private readonly paint = h("pre", { class: "paint", "aria-hidden": "true" });
  private readonly gutter = h("div", { class: "gutter", role: "group", "aria-label": "counts of every line" });
  private lines = new Map<number, LineSites>();
  private seen = ""; // the site that was scrolled to

  constructor(private readonly app: App) {
    this.text = h("textarea", {
      id: "source", spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off",
      "aria-label": "CUDA sketch", "aria-describedby": "messages",
    });
    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("click", () => this.caretMoved());
    this.text.addEventListener("keyup", (e) => {
      if (e.key.startsWith("Arrow") || e.key === "Home" || e.key === "End" || e.key.startsWith("Page")) this.caretMoved();
    });
    this.el = h("div", { class: "editor" },
      h("div", { class: "gutterhead", "aria-hidden": "true" },
        ...["line", "req", "wavefr", "ideal", "conflict"].map((t) => h("span", {}, t))),
      h("div", { class: "sheet" }, this.gutter, h("div", { class: "code" }, this.paint, this.text)));
  }

  /** load shows the source of the state, when something else than typing changed it. */
  load(): void {
    if (this.text.value !== this.app.state.source) {
      this.text.value = this.app.state.source;
      this.text.setSelectionRange(0, 0);
    }
    this.render();
  }

  private typed(): void {
    this.render();
    this.app.set({ source: this.text.value, site: -1, warp: -1, execution: -1, step: -1 });
  }

  private caretMoved(): void {
    const line = this.text.value.slice(0, this.text.selectionStart).split("\n").length;
    const here = this.lines.get(line)?.sites ?? [];
    if (here.length > 0 && !here.includes(this.app.site)) this.app.choose(this.worstOf(here));
  }

  private worstOf(indexes: number[]): number {
    const sites = this.app.report!.sites;
    return indexes.reduce((a, b) => (sites[b]!.conflicts > sites[a]!.conflicts ? b : a));
  }

  /** render paints the text and the gutter anew. */
  render(): void {
    this.el.hidden = this.app.state.binary;
    if (this.app.state.binary) return;
    const lines = this.text.value.split("\n");
    this.lines = this.tally();
    const problems = this.diagnostics();
    this.text.rows = lines.length;
    this.text.cols = Math.max(20, ...lines.map((l) => l.length + 2));
    const chosen = this.app.report?.sites[this.app.site];
    const painted = highlight(this.text.value);
    replace(this.paint, ...lines.map((line, i) => this.paintLine(line, painted[i] ?? [], i + 1, problems, chosen)));
    replace(this.gutter, ...lines.map((_, i) => this.gutterRow(i + 1, chosen)));
    this.showLine(chosen);
  }

  /** showLine scrolls to the line of the site shown when that changes; who is typing is left alone. */
  private showLine(chosen: Site | undefined): void {
    const key = chosen && !this.app.problem ? `${this.app.state.name}:${chosen.line}:${chosen.col}` : "";
    if (key === this.seen || document.activeElement === this.text || !chosen) return;
    this.seen = key;
    const row = this.paint.querySelector<HTMLElement>(`[data-line="${chosen.line}"]`);
    if (!row) return;
    const top = row.offsetTop, height = this.el.clientHeight;
    if (top < this.el.scrollTop + 20 || top > this.el.scrollTop + height - 60) this.el.scrollTo({ top: top - height / 2, left: 0 });
  }

  /** diagnostics returns what is wrong with the present text; conflicts are shown by the gutter. */
  private diagnostics(): Diagnostic[] {
    if (this.app.problem) return this.app.problem.diagnostics;
    return (this.app.report?.diagnostics ?? []).filter((d) => d.id !== "smem/conflict");
  }

  private paintLine(line: string, parts: Node[], n: number, problems: Diagnostic[], chosen: Site | undefined): HTMLElement {
    const counts = this.lines.get(n);
    const row = h("div", { class: "row", "data-line": n, "data-heat": counts ? heat(counts.wavefronts, counts.ideal) : null });
    if (chosen && chosen.line === n && !this.app.problem) row.classList.add("chosen");
    row.append(...parts);
    const here = problems.filter((d) => d.line === n);
    for (const d of here.slice(0, 3)) {
      const from = utf16(line, d.col);
      const length = Math.max(1, /^[\w.]+|^\S/.exec(line.slice(from))?.[0].length ?? 1);
      row.append(h("span", { class: `squiggle ${d.severity}`, title: d.message },
        h("span", { class: "before" }, line.slice(0, from)), h("span", { class: "mark" }, line.slice(from, from + length).padEnd(1))));
    }
    if (here[0]) row.append(h("span", { class: `inplace ${here[0].severity}` }, "  " + here[0].message));
    return row;
  }

  private gutterRow(n: number, chosen: Site | undefined): HTMLElement {
    const c = this.lines.get(n);
    const cell = (text: string, cls = "") => h("span", { class: cls }, text);
    if (!c) {
      return h("div", { class: "row", "aria-hidden": "true" }, cell(String(n), "n"), cell(""), cell(""), cell(""), cell(""));
    }
    const bad = c.faulted > 0 ? "fault" : c.unresolved > 0 && c.requests === 0 ? "unknown" : "";
    const said = `line ${n}: ${plural(c.requests, "request")}, ${plural(c.wavefronts, "wavefront")}, ideal ${c.ideal}, ` +
      `${plural(c.conflicts, "conflict")}${c.unresolved ? `, ${c.unresolved} unresolved` : ""}`;
    const row = h("button", {
      type: "button", class: `row has ${bad}`, "aria-label": said, title: said, "data-line": n,
      "data-heat": heat(c.wavefronts, c.ideal), "aria-pressed": String(chosen?.line === n),
      onclick: () => this.choose(n),
    },
      cell(String(n), "n"), cell(narrow(c.requests)), cell(c.faulted ? "fault" : c.unresolved && !c.requests ? "?" : narrow(c.wavefronts), "wf"),
      cell(narrow(c.ideal)), cell(narrow(c.conflicts) + (c.unresolved ? "+?" : ""), "conf"));
    row.addEventListener("mouseenter", () => this.lightLine(n, true));
    row.addEventListener("mouseleave", () => this.lightLine(n, false));
    return row;
  }

  /** choose shows a site of a line; again on the same line, the next one. */
  private choose(line: number): void {
    const here = this.lines.get(line)?.sites ?? [];
    const at = here.indexOf(this.app.site);
    this.app.choose(at < 0 ? this.worstOf(here) : here[(at + 1) % here.length]!);
  }

  /** lightLine marks a line and, when the picture shows one of its sites, the cells of the picture. */
  lightLine(line: number, on: boolean): void {
    this.paint.querySelector(`[data-line="${line}"]`)?.classList.toggle("lit", on);
    if (this.app.report?.sites[this.app.site]?.line === line) document.body.classList.toggle("lit-site", on);
  }

  private tally(): Map<number, LineSites> {
    const out = new Map<number, LineSites>();
    if (this.app.problem) return out;
    this.app.report?.sites.forEach((site, i) => {
      const c = out.get(site.line) ?? { sites: [], requests: 0, wavefronts: 0, ideal: 0, conflicts: 0, unresolved: 0, faulted: 0 };
      c.sites.push(i);
      for (const k of ["requests", "wavefronts", "ideal", "conflicts", "unresolved", "faulted"] as const) c[k] += site[k];
      out.set(site.line, c);
    });
    return out;
  }

  /** goto puts the caret at a place, counted as diagnostics do. */
  goto(line: number, col: number): void {
    const lines = this.text.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    const at = before + utf16(lines[line - 1] ?? "", col);
    this.text.focus();
    this.text.setSelectionRange(at, at);
    this.caretMoved();
  }
}

/** utf16 turns a column in bytes, from 1, into an index into a JavaScript string. */
export function utf16(line: string, col: number): number {
  let bytes = 0, at = 0;
  for (const c of line) {
    if (bytes >= col - 1) break;
    bytes += new TextEncoder().encode(c).length;
    at += c.length;
  }
  return at;
}

/** highlight returns the nodes of every line. */
function highlight(text: string): Node[][] {
  const lines: Node[][] = [[]];
  const put = (part: string, kind: string | null) => {
    part.split("\n").forEach((piece, i) => {
      if (i > 0) lines.push([]);
      if (piece) lines[lines.length - 1]!.push(kind ? h("span", { class: `t-${kind}` }, piece) : document.createTextNode(piece));
    });
  };
  let at = 0;
  for (const m of text.matchAll(tokens)) {
    put(text.slice(at, m.index), null);
    put(m[0], kinds[m.slice(1).findIndex((g) => g !== undefined)] ?? null);
    at = m.index + m[0].length;
  }
  put(text.slice(at), null);
  return lines;
}
