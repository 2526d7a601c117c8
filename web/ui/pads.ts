// The pads pane: the request of the bank pane with the rows of its array made longer, pictures side by side.

import type { App } from "./app";
import { h, plural, replace, s } from "./dom";
import { describe, draw, sans } from "./picture";
import { saveButtons } from "./save";
import { theme } from "./theme";
import type { Panel } from "./types";

const maxPads = 16;

export class PadsPane {
  readonly el = h("section", { class: "pane", id: "pane-pads", role: "tabpanel", "aria-labelledby": "tab-pads" });
  private readonly field = h("input", { id: "pads", size: 18, autocomplete: "off", "aria-label": "pads in elements" });
  private readonly wave = h("div", { class: "wave" });
  private readonly note = h("p", { class: "soft", "aria-live": "polite" });

  constructor(private readonly app: App) {
    this.field.addEventListener("change", () => this.read());
    this.el.append(
      h("div", { class: "panehead" }, h("label", {}, "Pads, in elements per row ", this.field), h("span", { class: "grow" }),
        saveButtons(() => "pads", () => this.together())),
      this.note, this.wave);
  }

  private read(): void {
    const pads = [...new Set(this.field.value.split(/[\s,]+/).filter(Boolean).map(Number))].filter((n) => Number.isInteger(n) && n >= 0);
    if (pads.length > 0) this.app.set({ pads: pads.slice(0, maxPads) });
    this.render();
  }

  render(): void {
    if (document.activeElement !== this.field) this.field.value = this.app.state.pads.join(", ");
    const view = this.app.problem ? null : this.app.view;
    const site = this.app.report?.sites[this.app.site];
    replace(this.wave);
    if (!view || !site) {
      this.note.textContent = "No request to pad.";
      return;
    }
    if (!view.pads) {
      this.note.textContent = view.pads_error ? `${view.pads_error}.` : "No request to pad.";
      return;
    }
    this.note.textContent = `${site.op} of ${site.text || site.array}: the same request with every row of ${site.array} longer by`;
    const best = Math.min(...view.pads.panels.filter((p) => !p.refused).map((p) => p.totals.wavefronts));
    for (const [i, p] of view.pads.panels.entries()) this.wave.append(this.card(p, i, best));
  }

  private card(p: Panel, i: number, best: number): HTMLElement {
    const good = !p.refused && p.totals.wavefronts === best;
    const pad = this.app.state.pads[i] ?? 0;
    const name = `pad ${pad}`;
    const head = h("figcaption", {},
      h("b", {}, plural(pad, "element")), h("span", { class: good ? "good" : "" }, p.refused ? "refused" : `${plural(p.totals.wavefronts, "wavefront")}`));
    if (p.refused) return h("figure", { class: "card" }, head, h("p", { class: "soft" }, p.refused));
    return h("figure", { class: good ? "card best" : "card", "data-pad": pad, "data-wavefronts": p.totals.wavefronts },
      head, draw(p, { width: 176, theme: theme(), title: `${name}: ${describe(p)}`, small: true }),
      h("p", { class: "soft" }, `${plural(p.totals.conflicts, "conflict")}, ${plural(p.totals.ways, "way")}`));
  }

  /** together joins the pictures into one for saving. */
  private together(): SVGSVGElement | null {
    const pictures = [...this.wave.querySelectorAll("svg")];
    if (pictures.length === 0) return null;
    const t = theme();
    const space = 12, top = 22;
    const width = pictures.reduce((n, p) => n + p.width.baseVal.value + space, space);
    const height = Math.max(...pictures.map((p) => p.height.baseVal.value)) + top + space;
    const all = s("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, "font-family": sans, role: "img" },
      s("title", {}, this.note.textContent), s("rect", { width, height, fill: t.paper }));
    let x = space;
    for (const p of pictures) {
      const part = p.cloneNode(true) as SVGSVGElement;
      part.setAttribute("x", String(x));
      part.setAttribute("y", String(top));
      all.append(s("text", { x, y: 15, fill: t.ink, "font-size": 11 }, p.querySelector("title")?.textContent ?? ""), part);
      x += p.width.baseVal.value + space;
    }
    return all;
  }
}
