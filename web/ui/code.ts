// The machine code of the kernel that is analysed, in the place of the editor: the same gutter, by instruction. Lines of
// the source stand above the code that comes from them.

import { problemOf, type App } from "./app";
import { h, narrow, plural, replace } from "./dom";
import { heat } from "./palette";
import type { Code, Site } from "./types";

export class CodeView {
  readonly el = h("div", { class: "editor code-view", hidden: true, tabindex: "0", "aria-label": "machine code" });
  private readonly sheet = h("div", { class: "sheet" });
  private readonly note = h("p", { class: "soft note" });
  private code: Code | null = null;
  private asked = "";
  private shown = -1; // the site that was scrolled to

  constructor(private readonly app: App) {
    this.el.append(
      h("div", { class: "gutterhead", "aria-hidden": "true" }, ...["pc", "req", "wavefr", "ideal", "conflict"].map((t) => h("span", {}, t))),
      this.note, this.sheet);
  }

  render(): void {
    const { kernel, binary, arch } = this.app.state;
    this.el.hidden = !binary;
    if (!binary) return;
    const question = JSON.stringify([kernel, arch]);
    if (question !== this.asked) void this.load(question);
    else this.paint();
  }

  private async load(question: string): Promise<void> {
    this.asked = question;
    this.code = null;
    replace(this.sheet);
    this.note.textContent = this.app.state.kernel ? "Reading…" : "Choose a kernel.";
    if (!this.app.state.kernel) return;
    try {
      const code = await this.app.backend.call<Code>("code", { kernel: this.app.state.kernel, arch: this.app.state.arch });
      if (question !== this.asked) return;
      this.code = code;
      this.note.textContent = code.truncated ? "Only the beginning is shown." : "";
      this.shown = -1;
      this.paint();
    } catch (err) {
      this.note.textContent = problemOf(err).message;
    }
  }

  private paint(): void {
    if (!this.code) return;
    const sites = new Map<number, number>();
    if (!this.app.problem) this.app.report?.sites.forEach((s, i) => sites.set(s.pc ?? 0, i));
    const chosen = this.app.report?.sites[this.app.site];
    const gutter = h("div", { class: "gutter", role: "group", "aria-label": "counts of every instruction" }), text = h("pre", { class: "asm" });
    for (const line of this.code.lines) {
      const i = line.pc >= 0 ? sites.get(line.pc) : undefined;
      const site = i === undefined ? undefined : this.app.report!.sites[i];
      gutter.append(this.gutterRow(line.pc, site, i, chosen));
      const same = chosen && line.file === chosen.file && line.line === chosen.line && line.line > 0;
      text.append(h("div", {
        class: `row${line.pc < 0 ? " origin" : ""}${site && site === chosen ? " chosen" : ""}${same ? " same" : ""}`, "data-pc": line.pc >= 0 ? line.pc : null,
        "data-heat": site ? heat(site.wavefronts, site.ideal) : null, title: line.file ? `${line.file}:${line.line}` : null,
      }, line.text.replace(/ {2,}\/\//, "  //")));
    }
    replace(this.sheet, gutter, text);
    if (chosen && this.app.site !== this.shown) {
      this.shown = this.app.site;
      const row = text.querySelector<HTMLElement>(".chosen");
      if (row) this.el.scrollTo({ top: row.offsetTop - this.el.clientHeight / 2, left: 0 });
    }
  }

  private gutterRow(pc: number, site: Site | undefined, i: number | undefined, chosen: Site | undefined): HTMLElement {
    const cell = (t: string, cls = "") => h("span", { class: cls }, t);
    const at = pc < 0 ? "" : pc.toString(16).padStart(4, "0");
    if (!site || i === undefined) return h("div", { class: "row", "aria-hidden": "true" }, cell(at, "n"));
    const said = `${site.instr ?? site.op} at ${at}: ${plural(site.requests, "request")}, ${plural(site.wavefronts, "wavefront")}, ideal ${site.ideal}, ` +
      `${plural(site.conflicts, "conflict")}${site.unresolved ? `, ${site.unresolved} unresolved` : ""}`;
    return h("button", {
      type: "button", class: "row has", "aria-label": said, title: said, "data-pc": pc, "data-heat": heat(site.wavefronts, site.ideal),
      "aria-pressed": String(site === chosen), onclick: () => this.app.choose(i),
    }, cell(at, "n"), cell(narrow(site.requests)), cell(site.unresolved && !site.requests ? "?" : narrow(site.wavefronts), "wf"),
      cell(narrow(site.ideal)), cell(narrow(site.conflicts) + (site.unresolved ? "+?" : ""), "conf"));
  }

  /** light marks the instruction of a site. */
  light(site: Site, on: boolean): void {
    this.sheet.querySelector(`.asm [data-pc="${site.pc ?? 0}"]`)?.classList.toggle("lit", on);
  }
}
