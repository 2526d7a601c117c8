// The binary pane: the kernels of the file that the server was given. Choosing one shows its machine code in the place of
// the editor and its accesses in the other panes.

import { problemOf, type App } from "./app";
import { debounce, h, number, plural, replace } from "./dom";
import { initial } from "./state";
import type { Kernels } from "./types";

export class BinaryPane {
  readonly el = h("section", { class: "pane", id: "pane-binary", role: "tabpanel", "aria-labelledby": "tab-binary" });
  private readonly search = h("input", { id: "kernel-search", type: "search", size: 30, placeholder: "words of the name, sm_90", "aria-label": "search kernels" });
  private readonly note = h("p", { class: "soft", "aria-live": "polite" });
  private readonly list = h("div", {});
  private kernels: Kernels | null = null;
  private running: AbortController | null = null;

  constructor(private readonly app: App) {
    this.search.addEventListener("input", debounce(120, () => void this.load()));
    this.el.append(
      h("div", { class: "panehead" }, h("label", {}, "Kernels ", this.search), h("span", { class: "grow" }),
        h("button", { type: "button", id: "back-to-sketch", onclick: () => this.leave() }, "Back to the sketch")),
      this.note, this.list);
  }

  render(): void {
    if (!this.kernels && !this.running) void this.load();
    else this.show();
  }

  private async load(): Promise<void> {
    this.running?.abort();
    const mine = (this.running = new AbortController());
    this.note.textContent = "Reading…";
    this.el.setAttribute("aria-busy", "true");
    try {
      const kernels = await this.app.backend.call<Kernels>("kernels", { search: this.search.value }, mine.signal);
      if (mine.signal.aborted) return;
      this.kernels = kernels;
      this.show();
    } catch (err) {
      if (mine.signal.aborted) return;
      this.note.textContent = problemOf(err).message;
    }
    this.el.removeAttribute("aria-busy");
  }

  private show(): void {
    const k = this.kernels;
    if (!k) return;
    this.note.textContent = `${this.app.catalogue.binary ?? ""}: ${plural(k.total, "kernel")}` +
      (k.matches < k.total ? `, ${number(k.matches)} match` : "") + (k.kernels.length < k.matches ? `, the first ${k.kernels.length} are shown` : "");
    const { kernel, binary, arch } = this.app.state;
    replace(this.list, h("table", { class: "kernels" },
      h("thead", {}, h("tr", {}, ...["kernel", "target", "shared", "registers", "accesses to shared memory"].map((t, i) =>
        h("th", { scope: "col", class: i === 0 || i === 4 ? "left-text" : "" }, t)))),
      h("tbody", {}, ...k.kernels.map((x) => {
        const here = binary && x.name === kernel && (arch === "" || x.target.startsWith(arch));
        return h("tr", { class: here ? "best" : "" },
          h("td", { class: "left-text" }, h("button", { type: "button", class: "apply", "aria-pressed": String(here), title: x.name, "data-kernel": x.name,
            onclick: () => this.open(x.name, x.target) }, x.demangled || x.name)),
          h("td", {}, x.target), h("td", {}, number(x.shared_bytes)), h("td", {}, String(x.registers)),
          h("td", { class: "left-text" }, x.not_decoded ?? (x.accesses.map((a) => `${a.op}${a.width_bytes ? `.${a.width_bytes * 8}` : ""} ×${a.count}`).join(", ") || "none")));
      }))));
  }

  private open(kernel: string, target: string): void {
    const { site, warp, execution, step, block, grid, shared, defines } = initial;
    this.app.set({ binary: true, kernel, arch: target.replace(/^compute_/, "sm_"), site, warp, execution, step, block, grid, shared, defines });
    this.el.dispatchEvent(new CustomEvent("opened"));
  }

  private leave(): void {
    const { site, warp, execution, step, kernel, arch, pane } = initial;
    this.app.set({ binary: false, site, warp, execution, step, kernel, arch, pane });
    this.el.dispatchEvent(new CustomEvent("opened"));
  }
}
