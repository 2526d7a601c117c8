// The bank pane: one request of one site on the banks, and the steps by which the unit serves it.

import { nextWorst, type App } from "./app";
import { capital, h, number, plural, ranges, replace } from "./dom";
import { heat, passPaint } from "./palette";
import { describe, draw, type Progress } from "./picture";
import { saveButtons } from "./save";
import { theme } from "./theme";
import type { Explanation, Panel, Site, View } from "./types";

/** The stages of the unit in the order in which a request meets them, as the model names them. */
const stages = ["drop", "convert", "check", "decode", "split", "resolver", "banks", "crossbar", "write-back", "retire"];

const playPause = 700; // milliseconds a step stays while playing

export class BankPane {
  readonly el = h("section", { class: "pane", id: "pane-banks", role: "tabpanel", "aria-labelledby": "tab-banks" });
  private readonly head = h("div", { class: "panehead" });
  private readonly sliders = h("div", { class: "sliders" });
  private readonly why = h("p", { class: "why", id: "why", "aria-live": "polite" });
  private readonly stepper = h("div", { class: "stepper", role: "group", "aria-label": "steps of the unit" });
  private readonly picture = h("div", { class: "picturebox", tabindex: "0", "aria-label": "bank picture; arrow keys step through the unit" });
  private readonly detail = h("div", { class: "detail" });
  private playing = 0;

  constructor(private readonly app: App, private readonly lightSite: (on: boolean) => void) {
    this.el.append(this.head, this.sliders, this.why, this.stepper, this.picture, this.detail);
    this.el.addEventListener("keydown", (e) => this.key(e));
    for (const [type, on] of [["mouseover", true], ["mouseout", false], ["focusin", true], ["focusout", false]] as const) {
      this.el.addEventListener(type, (e) => this.hover(e, on));
    }
  }

  render(): void {
    const site = this.app.report?.sites[this.app.site];
    const view = this.app.view;
    if (!site || this.app.problem) {
      this.stop();
      replace(this.head);
      replace(this.sliders);
      this.why.textContent = this.app.problem ? "The sketch has an error; the picture returns when it is mended." :
        "No access to shared memory yet. Write one, or choose an example.";
      for (const el of [this.stepper, this.picture, this.detail]) replace(el);
      return;
    }
    this.renderHead();
    if (!view || view.site !== this.app.site) {
      if (this.app.viewProblem) this.why.textContent = this.app.viewProblem.message;
      return;
    }
    this.renderSliders(view);
    const x = view.explain;
    if (!x) {
      this.stop();
      this.why.textContent = `Not resolved: ${view.unresolved}.`;
      for (const el of [this.stepper, this.picture, this.detail]) replace(el);
      return;
    }
    this.why.textContent = x.fault ? `${capital(x.fault.text)}. ${capital(x.fault.advice)}.` : `${capital(x.why)}.`;
    this.renderStep();
    this.renderDetail(x);
  }

  private renderHead(): void {
    const sites = this.app.report!.sites;
    const select = h("select", {
      id: "site", "aria-label": "site", onchange: (e) => this.app.choose(Number((e.target as HTMLSelectElement).value)),
    }, ...sites.map((s, i) => h("option", { value: i, selected: i === this.app.site },
      `${place(s)} ${s.text || s.instr || s.op} · ${s.op} ${s.width} B · ${number(s.wavefronts)} / ${number(s.ideal)}`)));
    replace(this.head, h("label", { class: "sitechoice" }, "Site ", select),
      h("button", { type: "button", id: "next-worst", title: "show the site with the next most conflicts",
        onclick: () => this.app.choose(nextWorst(sites, this.app.site)) }, "Next worst"),
      saveButtons(() => `banks-${sites[this.app.site]?.line || sites[this.app.site]?.pc || 0}`, () => this.picture.querySelector("svg")));
  }

  /** renderSliders draws the warps and the executions of the site; each has a strip that shows where the conflicts are. */
  private renderSliders(v: View): void {
    const warp = v.warps[v.warp];
    if (!warp) return replace(this.sliders);
    const several = new Set(v.warps.map((w) => w.block)).size > 1;
    const who = (several ? `block ${warp.block}, ` : "") + `warp ${warp.warp}`;
    const worst = (w: (typeof v.warps)[number]) => w.wavefronts.reduce((a, n, i) => Math.max(a, heatOf(n, w.ideal[i]!)), 0);
    replace(this.sliders,
      slider("warp", "Warp", v.warp, v.warps.length, who, v.warps.map(worst),
        (n) => this.app.set({ warp: n, execution: v.execution, step: -1 })),
      slider("execution", "Loop step", v.execution, warp.wavefronts.length, `${v.execution + 1} of ${warp.wavefronts.length}`,
        warp.wavefronts.map((n, i) => heatOf(n, warp.ideal[i]!)), (n) => this.app.set({ warp: v.warp, execution: n, step: -1 })),
      h("button", { type: "button", id: "worst-request", class: "quiet", title: "show the worst request of this site",
        onclick: () => this.app.set({ warp: -1, execution: -1, step: -1 }) }, "Worst"),
      v.truncated ? h("span", { class: "soft" }, "only the first executions are listed") : null);
  }

  /** progress says what is done at the present step. */
  private progress(x: Explanation): Progress | undefined {
    const at = this.app.state.step;
    if (at < 0 || at >= x.steps.length - 1) return undefined;
    const step = x.steps[at]!;
    const order = stages.indexOf(step.stage);
    let done = 0;
    for (const s of x.steps.slice(0, at + 1)) if (s.pass >= 0) done = Math.max(done, s.pass);
    return { done, now: step.pass, placed: order >= 3 };
  }

  /** renderStep draws what changes from step to step: the pipeline, the text and the picture. */
  renderStep(): void {
    const x = this.app.view?.explain;
    if (!x) return;
    const last = x.steps.length - 1;
    const at = this.app.state.step < 0 ? last : Math.min(this.app.state.step, last);
    const step = x.steps[at];
    const button = (id: string, text: string, label: string, to: number) =>
      h("button", { type: "button", id, title: label, "aria-label": label, onclick: () => this.goto(to) }, text);
    replace(this.stepper,
      h("div", { class: "controls" },
        button("step-first", "|◀", "first step (Home)", 0),
        button("step-back", "‹", "step back (left arrow)", Math.max(0, at - 1)),
        h("button", { type: "button", id: "play", "aria-pressed": String(this.playing !== 0), onclick: () => this.toggle(),
          title: "play (space)" }, this.playing ? "❚❚ Pause" : "▶ Play"),
        button("step-next", "›", "step forward (right arrow)", Math.min(last, at + 1)),
        button("step-last", "▶|", "all done (End)", -1),
        h("span", { class: "stepno" }, `${at + 1} / ${x.steps.length}`)),
      h("ol", { class: "pipeline", "aria-label": "pipeline" }, ...this.pipeline(x, at)),
      h("p", { class: "steptext", id: "step-text", "aria-live": "polite" },
        h("b", {}, step ? step.stage : ""), step ? ` ${step.text}` : ""));
    const panel = x.picture;
    if (!panel) return replace(this.picture);
    const progress = this.progress(x);
    const width = Math.max(520, this.picture.clientWidth || this.el.clientWidth || 640);
    const svg = draw(panel, { width, theme: theme(), title: x.title, ...(progress ? { progress } : {}) });
    replace(this.picture, svg);
    this.detail.querySelectorAll<HTMLElement>("[data-lane]").forEach((chip) => {
      const lane = Number(chip.dataset["lane"]);
      const active = at < last && !!step && step.lanes.includes(lane);
      chip.classList.toggle("now", active);
      chip.classList.toggle("waiting", at < last && !!step && step.waiting.includes(lane) && !active);
    });
  }

  private pipeline(x: Explanation, at: number): HTMLElement[] {
    const now = x.steps[at]?.stage ?? "";
    const here = stages.indexOf(now);
    return stages.map((name, i) => {
      const first = x.steps.findIndex((s) => s.stage === name);
      const cls = name === now ? "now" : i < here ? "past" : "";
      return h("li", { class: cls, "aria-current": name === now ? "step" : null },
        h("button", { type: "button", class: "stage", disabled: first < 0, tabindex: "-1", onclick: () => this.goto(first) }, name));
    });
  }

  private renderDetail(x: Explanation): void {
    const p = x.picture;
    if (!p) return replace(this.detail);
    replace(this.detail,
      h("dl", { class: "facts" },
        ...fact("Totals", describe(p)),
        ...fact("Groups", groupText(p)),
        ...fact("Pairing", pairingText(x)),
        ...fact("Cycles", `${p.totals.cycles} when the unit is saturated`),
        ...fact("Basis", `${x.rule.basis}${x.rule.provenance ? `: ${x.rule.provenance}` : ""}`),
        ...x.notes.flatMap((n) => fact("Note", n))),
      h("h3", {}, "Lanes"),
      h("div", { class: "lanes", role: "list", "aria-label": "lanes" }, ...p.accesses.map((a) => chip(p, a))),
      h("details", { class: "table" }, h("summary", {}, "Table: lane, address, word, bank, row, group, pass"), laneTable(p)));
  }

  private goto(step: number): void {
    this.app.set({ step });
  }

  private key(e: KeyboardEvent): void {
    const el = e.target as HTMLElement;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(el.tagName)) return;
    const last = this.app.steps - 1;
    const at = this.app.state.step < 0 ? last : this.app.state.step;
    const to: Record<string, number> = { ArrowRight: Math.min(last, at + 1), ArrowLeft: Math.max(0, at - 1), Home: 0, End: -1 };
    if (e.key in to) {
      e.preventDefault();
      this.stop();
      this.goto(to[e.key]!);
    } else if (e.key === " " && el.tagName !== "BUTTON" && el.tagName !== "SUMMARY") {
      e.preventDefault();
      this.toggle();
    }
  }

  private toggle(): void {
    if (this.playing) {
      this.stop();
      this.renderStep();
      return;
    }
    const last = this.app.steps - 1;
    if (last < 0) return;
    this.playing = window.setInterval(() => {
      const at = this.app.state.step;
      if (at < 0 || at >= last) {
        this.stop();
        this.renderStep();
      } else {
        this.goto(at + 1 >= last ? -1 : at + 1);
      }
    }, playPause);
    if (this.app.state.step < 0 || this.app.state.step >= last) this.goto(0);
    else this.renderStep();
  }

  private stop(): void {
    clearInterval(this.playing);
    this.playing = 0;
  }

  /** hover marks the same lanes in the picture and among the lanes, and the line they come from. */
  private hover(e: Event, on: boolean): void {
    const from = (e.target as Element).closest<HTMLElement | SVGElement>("[data-lanes], [data-lane]");
    if (!from) return;
    const lanes = new Set((from.dataset["lanes"] ?? from.dataset["lane"] ?? "").split(" "));
    this.el.querySelectorAll<HTMLElement | SVGElement>("[data-lanes], [data-lane]").forEach((el) => {
      const own = (el.dataset["lanes"] ?? el.dataset["lane"] ?? "").split(" ");
      el.classList.toggle("lit", on && own.some((l) => lanes.has(l)));
    });
    this.lightSite(on);
  }
}

function heatOf(wavefronts: number, ideal: number): number {
  return wavefronts === -2 ? 5 : wavefronts < 0 ? 0 : heat(wavefronts, ideal);
}

function slider(id: string, name: string, value: number, n: number, text: string, heats: number[], set: (n: number) => void): HTMLElement {
  const input = h("input", {
    type: "range", id, min: 0, max: Math.max(0, n - 1), step: 1, disabled: n < 2, "aria-label": name, "aria-valuetext": text,
    oninput: (e) => set(Number((e.target as HTMLInputElement).value)),
  });
  input.value = String(value);
  const most = 160; // marks; more would be thinner than a pixel
  const strip = h("span", { class: "strip", "aria-hidden": "true" });
  const each = Math.ceil(heats.length / most);
  for (let i = 0; i < heats.length; i += each) {
    strip.append(h("i", { "data-heat": Math.max(...heats.slice(i, i + each)), class: value >= i && value < i + each ? "at" : null }));
  }
  return h("label", { class: "slider", for: id }, h("span", { class: "name" }, name), h("span", { class: "track" }, strip, input),
    h("output", { for: id }, text));
}

function fact(name: string, text: string): HTMLElement[] {
  return [h("dt", {}, name), h("dd", {}, text)];
}

function groupText(p: Panel): string {
  if (p.groups.length === 1) return `one group: lanes ${ranges(p.groups[0]!.lanes)}, ${plural(p.groups[0]!.passes, "pass").replace("passs", "passes")}`;
  return p.groups.map((g) => `${g.index}: lanes ${ranges(g.lanes)} (${g.passes})`).join("; ");
}

function pairingText(x: Explanation): string {
  const p = x.pairing;
  if (!p.possible) return "accesses of this kind do not pair";
  if (p.pairs) return `paired: lanes ${p.distance} apart share their addresses, so the groups are larger`;
  const breaks = (p.breaks ?? []).map(([a, b]) => `lanes ${a} and ${b} differ`).join("; ");
  return breaks ? `not paired: ${breaks}` : "not paired";
}

function chip(p: Panel, a: Panel["accesses"][number]): HTMLElement {
  const pass = p.passes[a.pass];
  const paint = passPaint(a.pass, p.passes.length);
  const text = `lane ${a.lane}: address ${a.address}, word ${a.word}, bank ${a.bank}, row ${a.row}, pass ${pass?.name ?? "none"}`;
  const el = h("span", { class: "lane", role: "listitem", tabindex: "0", "data-lane": a.lane, title: text, "aria-label": text }, String(a.lane));
  el.style.backgroundColor = paint.fill;
  el.style.color = paint.ink;
  return el;
}

function laneTable(p: Panel): HTMLElement {
  const head = ["lane", "address", "word", "bank", "row", "group", "pass"];
  return h("table", {},
    h("thead", {}, h("tr", {}, ...head.map((t) => h("th", { scope: "col" }, t)))),
    h("tbody", {}, ...p.accesses.map((a) => h("tr", { "data-lanes": a.lane },
      ...[a.lane, a.address, a.word, a.words > 1 ? `${a.bank}-${a.bank + a.words - 1}` : a.bank, a.row, p.groups[a.group]?.index ?? "",
        p.passes[a.pass]?.name ?? ""].map((v) => h("td", {}, String(v)))))));
}


/** place says where a site is: its line, or its address in the machine code. */
function place(s: Site): string {
  const pc = s.pc === undefined ? "" : `0x${s.pc.toString(16).padStart(4, "0")} `;
  return pc + (s.line > 0 ? `${pc ? "line " : ""}${s.line}:` : "");
}
