// The fix pane: candidates of the search for the array of the site shown; a click writes one into the sketch.

import { problemOf, type App } from "./app";
import { capital, h, number, plural, replace } from "./dom";
import { initial } from "./state";
import type { Candidate, Evaluated, Fixes, FixOption, FixResult, Tally } from "./types";

type Key = "wavefronts" | "conflicts" | "bytes" | "instructions" | "blocks_per_sm";
const columns: [Key, string, string][] = [
  ["wavefronts", "wavefronts", "over all requests of the array"],
  ["conflicts", "conflicts", "wavefronts above the ideal"],
  ["bytes", "bytes", "that the array takes"],
  ["instructions", "instr.", "instructions added to each access"],
  ["blocks_per_sm", "blocks/SM", "that fit on a multiprocessor at once"],
];

const formNames: Record<string, string> = { cuda: "CUDA", cute: "CuTe", python: "TileLang", triton: "Triton" };

interface Applied {
  name: string;
  before: { source: string; shared: number; totals: Tally };
  after: Tally | null;
}

export class FixPane {
  readonly el = h("section", { class: "pane", id: "pane-fix", role: "tabpanel", "aria-labelledby": "tab-fix" });
  private readonly head = h("div", { class: "panehead" });
  private readonly said = h("p", { class: "why", "aria-live": "polite" });
  private readonly applied = h("div", { class: "applied", "aria-live": "polite" });
  private readonly list = h("div", {});
  private readonly code = h("div", { class: "code-out" });
  private fixes: Fixes | null = null;
  private asked = ""; // the question that fixes answers
  private running: AbortController | null = null;
  private array = "";
  private sort: Key = "wavefronts";
  private down = false;
  private last: Applied | null = null;
  private shown: { option: number; form: string } | null = null;

  constructor(private readonly app: App) {
    this.el.append(this.head, this.applied, this.said, this.list, this.code);
  }

  render(): void {
    if (this.app.problem) {
      this.running?.abort();
      this.asked = "";
      for (const el of [this.head, this.list, this.code, this.applied]) replace(el);
      this.said.textContent = "The sketch has an error; fixes return when it is mended.";
      return;
    }
    const question = JSON.stringify(this.app.input());
    if (question !== this.asked) void this.search(question);
    else this.show();
  }

  private async search(question: string): Promise<void> {
    this.asked = question;
    this.running?.abort();
    const mine = (this.running = new AbortController());
    this.said.textContent = "Searching…";
    this.shown = null;
    this.el.setAttribute("aria-busy", "true");
    try {
      const fixes = await this.app.backend.call<Fixes>("fix", this.app.input(), mine.signal);
      if (mine.signal.aborted) return;
      this.fixes = fixes;
    } catch (err) {
      if (mine.signal.aborted) return;
      this.fixes = null;
      this.said.textContent = problemOf(err).message;
      for (const el of [this.head, this.list, this.code]) replace(el);
      this.el.removeAttribute("aria-busy");
      return;
    }
    this.el.removeAttribute("aria-busy");
    this.array = this.app.report?.sites[this.app.site]?.array ?? "";
    this.show();
  }

  private show(): void {
    const arrays = this.fixes?.arrays ?? [];
    this.showApplied();
    if (arrays.length === 0) {
      this.said.textContent = "No array is accessed at known addresses.";
      for (const el of [this.head, this.list, this.code]) replace(el);
      return;
    }
    const chosen = arrays.find((a) => a.array === this.array) ?? arrays[0]!;
    replace(this.head, h("label", {}, "Array ", h("select", {
      id: "fix-array", onchange: (e) => {
        this.array = (e.target as HTMLSelectElement).value;
        this.shown = null;
        this.show();
      },
    }, ...arrays.map((a) => h("option", { value: a.array, selected: a === chosen }, a.array)))));
    const r = chosen.result;
    if (!r) {
      this.said.textContent = chosen.error ?? "";
      replace(this.list);
      return replace(this.code);
    }
    this.said.textContent = `${capital(`${r.best ? `Use ${label(r.best)}: ` : ""}${r.reason}`)}. ${proof(r)}`;
    replace(this.list, this.table(r, chosen.options));
    this.showCode(chosen.options);
  }

  private table(r: FixResult, options: FixOption[]): HTMLElement {
    const ideal = r.sites.reduce((n, s) => n + s.ideal, 0);
    const value = (c: Candidate, k: Key) => (k === "conflicts" ? c.wavefronts - ideal : c[k]);
    const rows = r.pareto.map((c, i) => ({ c, i })).sort((a, b) => (value(a.c, this.sort) - value(b.c, this.sort)) * (this.down ? -1 : 1) || a.i - b.i);
    const head = columns.map(([key, name, title]) =>
      h("th", { scope: "col", "aria-sort": key === this.sort ? (this.down ? "descending" : "ascending") : "none" },
        h("button", { type: "button", class: "quiet", title, onclick: () => this.sortBy(key) }, name + (key === this.sort ? (this.down ? " ▾" : " ▴") : ""))));
    return h("table", { class: "fixes" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "left-text" }, "layout"), ...head)),
      h("tbody", {}, ...rows.map(({ c, i }) => this.row(r, c, i, options[i]!, columns.map(([k]) => value(c, k))))));
  }

  private sortBy(key: Key): void {
    this.down = key === this.sort ? !this.down : false;
    this.sort = key;
    this.show();
  }

  private row(r: FixResult, c: Candidate, i: number, o: FixOption, values: number[]): HTMLElement {
    const best = r.best?.transform === c.transform;
    const none = c.family === "none";
    return h("tr", { class: best ? "best" : "", "data-transform": c.transform, "data-wavefronts": c.wavefronts },
      h("td", { class: "left-text" },
        none ? label(c) : h("button", { type: "button", class: "apply", disabled: !o.source, title: o.source ? "write it into the sketch" : o.refused ?? "",
          onclick: () => void this.apply(c, o) }, label(c)),
        unit(c) ? h("span", { class: "soft unit" }, unit(c)) : null,
        best ? h("div", { class: "good" }, "recommended") : null,
        !none && !o.source ? h("span", { class: "soft" }, ` by hand: ${o.refused ?? ""}`) : null,
        c.narrowed?.length ? h("span", { class: "soft" }, " narrower accesses") : null,
        none ? null : h("div", { class: "forms" }, h("span", { class: "soft" }, "copy as"), ...o.forms.map((f) => h("button", {
          type: "button", class: "quiet", disabled: !f.text, title: f.error ?? `copy as ${formNames[f.form] ?? f.form}`,
          "aria-pressed": String(this.shown?.option === i && this.shown.form === f.form),
          onclick: () => void this.copy(i, f.form, f.text ?? ""),
        }, formNames[f.form] ?? f.form)))),
      ...values.map((v) => h("td", {}, number(v))));
  }

  private async copy(option: number, form: string, text: string): Promise<void> {
    this.shown = { option, form };
    this.show();
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // No permission: the text is shown, selected, for copying by hand.
      const pre = this.code.querySelector("pre");
      if (pre) getSelection()?.selectAllChildren(pre);
    }
  }

  private showCode(options: FixOption[]): void {
    const f = this.shown && options[this.shown.option]?.forms.find((x) => x.form === this.shown!.form);
    if (!f?.text) return replace(this.code);
    replace(this.code, h("h3", {}, `${formNames[f.form] ?? f.form}, copied`), h("pre", { tabindex: "0", "aria-label": "code" }, f.text));
  }

  /** apply puts a candidate into the sketch and keeps what was before, to show both and to go back. */
  private async apply(c: Candidate, o: FixOption): Promise<void> {
    const report = this.app.report;
    if (!report || !o.source) return;
    const { source, shared } = this.app.state;
    this.last = { name: `${this.array}: ${label(c)}`, before: { source, shared, totals: report.totals }, after: null };
    this.put(o.source, o.dynamic_shared || shared);
    // The figures come from the model, run on the new sketch, not from the promise of the search.
    const reply = await this.app.backend.call<Evaluated>("evaluate", this.app.input()).catch(() => null);
    if (this.last) this.last.after = reply?.report.totals ?? null;
    this.showApplied();
  }

  private put(source: string, shared: number): void {
    const { site, warp, execution, step } = initial;
    this.app.set({ source, shared, site, warp, execution, step });
    this.el.dispatchEvent(new CustomEvent("applied"));
  }

  private showApplied(): void {
    const a = this.last;
    if (!a) return replace(this.applied);
    const before = a.before.totals, after = a.after;
    const line = (name: string, x: number, y: number) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, number(x)), h("td", {}, number(y)));
    replace(this.applied,
      h("div", { class: "panehead" }, h("b", {}, a.name), h("span", { class: "grow" }),
        h("button", { type: "button", id: "undo-fix", onclick: () => {
          this.last = null;
          this.put(a.before.source, a.before.shared);
        } }, "Undo")),
      after ? h("table", { id: "before-after" },
        h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "before"), h("th", { scope: "col" }, "after"))),
        h("tbody", {}, line("wavefronts", before.wavefronts, after.wavefronts), line("conflicts", before.conflicts, after.conflicts),
          line("worst ways", before.ways, after.ways))) : null);
  }

  /** forget drops the comparison when another sketch is opened. */
  forget(): void {
    this.last = null;
  }
}

function label(c: Candidate): string {
  if (c.family === "none") return "as it is";
  if (c.transform === "id") return "without the pad";
  return (c.on_elements ?? c.transform).replace(onElements, "");
}

const onElements = / on (\d+)-byte elements$/;

/** unit says what the numbers of a label count. */
function unit(c: Candidate): string {
  if (c.family === "none" || c.transform === "id") return "";
  const size = onElements.exec(c.on_elements ?? "")?.[1];
  return size ? `elements of ${size} bytes` : "bytes";
}

function proof(r: FixResult): string {
  if (r.optimal_in_general) return `Proved: no layout takes fewer than ${plural(r.bound, "wavefront")}.`;
  if (r.optimal_in_family) return `Proved least in the families searched; no layout goes below ${number(r.bound)}.`;
  return `Not proved: no layout goes below ${number(r.bound)}.`;
}
