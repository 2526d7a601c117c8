// The fields above the editor: example, architecture, launch shape, definitions, dynamic shared memory, kernel.

import type { App } from "./app";
import { h, replace } from "./dom";
import { fromInput, initial } from "./state";
import type { Shape } from "./types";

export class Fields {
  readonly el = h("form", { class: "fields", "aria-label": "launch" });
  private readonly example = h("select", { id: "example" });
  private readonly arch = h("select", { id: "arch" });
  private readonly block = text("block", 7, "32");
  private readonly grid = text("grid", 4, "1");
  private readonly defines = text("defines", 18, "N=64 PAD=1");
  private readonly shared = text("shared", 5, "0");
  private readonly kernel = text("kernel", 11, "the only one");

  constructor(private readonly app: App) {
    const { catalogue } = app;
    this.example.append(h("option", { value: "" }, "Examples…"), ...catalogue.examples.map((e) => h("option", { value: e.title }, e.title.replaceAll("_", " "))));
    this.arch.append(...catalogue.archs.map((a) => h("option", { value: a.name, title: a.title }, `${a.name} · ${a.title}`)));
    this.example.addEventListener("change", () => this.open(this.example.value));
    this.arch.addEventListener("change", () => this.app.set({ arch: this.arch.value === catalogue.default_arch ? "" : this.arch.value }));
    on(this.block, () => this.shape("block", this.block));
    on(this.grid, () => this.shape("grid", this.grid));
    on(this.defines, () => this.app.set({ defines: this.defines.value.split(/\s+/).filter(Boolean), step: -1 }));
    on(this.shared, () => this.app.set({ shared: Math.max(0, Math.trunc(Number(this.shared.value)) || 0) }));
    on(this.kernel, () => this.app.set({ kernel: this.kernel.value.trim() }));
    this.el.addEventListener("submit", (e) => e.preventDefault());
    this.el.append(label("Example", this.example), label("GPU", this.arch), label("-D", this.defines), label("Block", this.block),
      label("Grid", this.grid), label("Dynamic bytes", this.shared), label("Kernel", this.kernel));
  }

  /** open loads an example with nothing else set. */
  open(name: string): void {
    const found = this.app.catalogue.examples.find((e) => e.title === name);
    if (!found) return;
    const { arch, pane, pads, measure } = this.app.state;
    this.app.open({ ...initial, ...fromInput(found), arch: found.arch ?? arch, pane, pads, measure });
    this.load();
    this.el.dispatchEvent(new CustomEvent("opened"));
  }

  private shape(key: "block" | "grid", field: HTMLInputElement): void {
    const parts = field.value.split(/[\s,x]+/).filter(Boolean).map(Number);
    const ok = parts.length <= 3 && parts.every((n) => Number.isInteger(n) && n > 0);
    field.setCustomValidity(ok ? "" : "want X, X,Y or X,Y,Z");
    field.setAttribute("aria-invalid", String(!ok));
    if (!ok) return;
    const shape: Shape = parts.length === 0 ? [0, 0, 0] : [parts[0]!, parts[1] ?? 1, parts[2] ?? 1];
    this.app.set({ [key]: shape, warp: -1, execution: -1, step: -1 });
  }

  /** load shows the state. */
  load(): void {
    const { arch, block, grid, defines, shared, kernel, binary } = this.app.state;
    const shown = (s: Shape) => (s[0] === 0 ? "" : s.join(",").replace(/(,1)+$/, ""));
    this.arch.value = arch || this.app.catalogue.default_arch;
    this.block.value = shown(block);
    this.grid.value = shown(grid);
    this.defines.value = defines.join(" ");
    this.shared.value = shared ? String(shared) : "";
    this.kernel.value = kernel;
    this.showExample();
    this.defines.disabled = binary;
  }

  /** showExample names the example in the menu as long as it is unchanged. */
  private showExample(): void {
    const { name, source, binary } = this.app.state;
    const example = this.app.catalogue.examples.find((e) => e.name === name && e.source === source);
    this.example.value = (!binary && example?.title) || "";
  }

  /** render shows what the source decided where a field says nothing. */
  render(): void {
    this.showExample();
    const launch = this.app.report?.launch;
    if (launch) this.block.placeholder = launch.block.join(",").replace(/(,1)+$/, "");
    const kernel = this.app.report?.kernel;
    if (kernel) this.kernel.placeholder = kernel;
  }
}

function text(id: string, size: number, placeholder: string): HTMLInputElement {
  return h("input", { id, size, placeholder, autocomplete: "off", spellcheck: "false" });
}

function on(el: HTMLInputElement, f: () => void): void {
  el.addEventListener("input", f);
}

function label(name: string, field: HTMLElement): HTMLElement {
  return h("label", { for: field.id, class: `for-${field.id}` }, h("span", {}, name), field);
}

/** messages fills the list of diagnostics under the editor. */
export function messages(el: HTMLElement, app: App, goto: (line: number, col: number) => void): void {
  const list = app.problem ? app.problem.diagnostics : (app.report?.diagnostics ?? []);
  const items = list.map((d) => h("li", { class: d.severity },
    h("button", { type: "button", class: "at", disabled: d.line < 1, onclick: () => goto(d.line, d.col) }, d.line > 0 ? `${d.line}${d.col > 0 ? `:${d.col}` : ""}` : "-"),
    h("span", {}, d.message, ...(d.fixes ?? []).map((f) => h("span", { class: "hint" }, f)))));
  if (app.problem && items.length === 0) items.push(h("li", { class: "error" }, h("span", { class: "at" }, "-"), h("span", {}, app.problem.message)));
  replace(el, ...items);
}
