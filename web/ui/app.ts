// The state of the page and what follows from it. Panes read `app`, call its methods and redraw when told to.

import { CallError, type Backend } from "./backend";
import { debounce } from "./dom";
import { encode, initial, type State } from "./state";
import type { Catalogue, Evaluated, Input, Problem, Report, Site, View } from "./types";

/** What changed: the answer of the model, the request shown, the step, or anything that only looks different. */
export type Change = "report" | "view" | "step" | "pane" | "busy";

const inputKeys: (keyof State)[] = ["name", "source", "arch", "block", "grid", "defines", "shared", "kernel", "binary"];
const viewKeys: (keyof State)[] = ["site", "warp", "execution", "pads"];

/** How long typing must pause before the sketch is evaluated, in milliseconds. */
const typingPause = 60;

export class App {
  state: State = { ...initial };
  evaluated: Evaluated | null = null;
  problem: Problem | null = null; // why there is no report for the present source
  view: View | null = null;
  viewProblem: Problem | null = null;
  took = 0; // milliseconds of the last evaluation, as seen by the page
  busy = false;

  private readonly listeners: ((change: Change) => void)[] = [];
  private running: AbortController | null = null;
  private viewing: AbortController | null = null;
  private readonly evaluateSoon = debounce(typingPause, () => void this.evaluate());
  private readonly linkSoon = debounce(250, () => void this.link());

  constructor(readonly backend: Backend, readonly catalogue: Catalogue) {}

  listen(f: (change: Change) => void): void {
    this.listeners.push(f);
  }

  private tell(change: Change): void {
    for (const f of this.listeners) f(change);
  }

  get report(): Report | null {
    return this.evaluated?.report ?? null;
  }

  /** site is the site shown: the chosen one, or the worst. */
  get site(): number {
    const sites = this.report?.sites ?? [];
    if (this.state.site >= 0 && this.state.site < sites.length) return this.state.site;
    return worstSite(sites);
  }

  input(): Input {
    const { name, source, arch, block, grid, defines, shared, kernel, binary } = this.state;
    if (binary) return { source: "", arch, block, grid, dynamic_shared: shared, kernel, binary };
    return { name, source, arch, block, grid, defines, dynamic_shared: shared, kernel };
  }

  /** set changes the state and starts what has to be computed again. */
  set(patch: Partial<State>): void {
    const before = this.state;
    this.state = { ...before, ...patch };
    const changed = (keys: (keyof State)[]) => keys.some((k) => JSON.stringify(before[k]) !== JSON.stringify(this.state[k]));
    this.linkSoon();
    if (changed(inputKeys)) {
      this.evaluateSoon();
    } else if (changed(viewKeys)) {
      void this.look();
      this.tell("view");
    } else if (changed(["step"])) {
      this.tell("step");
    }
    if (changed(["pane", "space", "measure"])) this.tell("pane");
  }

  /** open replaces the whole state and evaluates it at once. */
  open(state: State): void {
    this.state = state;
    this.linkSoon();
    void this.evaluate();
  }

  private async link(): Promise<void> {
    const hash = await encode(this.state);
    if (hash !== location.hash) history.replaceState(null, "", hash);
  }

  /** url returns the address that opens the page in its present state. */
  async url(): Promise<string> {
    return location.href.replace(/#.*$/, "") + (await encode(this.state));
  }

  async evaluate(): Promise<void> {
    this.running?.abort();
    const mine = (this.running = new AbortController());
    this.setBusy(true);
    const start = performance.now();
    try {
      const reply = await this.backend.call<Evaluated>("evaluate", this.input(), mine.signal);
      if (mine.signal.aborted) return;
      this.evaluated = reply;
      this.problem = null;
    } catch (err) {
      if (mine.signal.aborted) return;
      this.problem = problemOf(err);
    }
    this.took = performance.now() - start;
    this.tell("report");
    if (this.problem) this.setBusy(false);
    else await this.look();
  }

  async look(): Promise<void> {
    this.viewing?.abort();
    const mine = (this.viewing = new AbortController());
    const site = this.site;
    if (site < 0) {
      this.view = null;
      this.setBusy(false);
      this.tell("view");
      return;
    }
    const { warp, execution, pads } = this.state;
    const question = { ...this.input(), site, pads, ...(warp >= 0 ? { warp } : {}), ...(execution >= 0 ? { execution } : {}) };
    try {
      const view = await this.backend.call<View>("view", question, mine.signal);
      if (mine.signal.aborted) return;
      this.view = view;
      this.viewProblem = null;
    } catch (err) {
      if (mine.signal.aborted) return;
      this.view = null;
      this.viewProblem = problemOf(err);
    }
    this.setBusy(false);
    this.tell("view");
  }

  private setBusy(busy: boolean): void {
    this.busy = busy;
    this.tell("busy");
  }

  /** steps returns how many steps the request shown goes through. */
  get steps(): number {
    return this.view?.explain?.steps.length ?? 0;
  }

  choose(site: number): void {
    this.set({ site, warp: -1, execution: -1, step: -1 });
  }
}

export function problemOf(err: unknown): Problem {
  if (err instanceof CallError) return err.problem;
  const message = err instanceof Error ? err.message : String(err);
  return { schema: "", message, diagnostics: [] };
}

/** worstSite returns the site with the most conflicts in all, else the first; -1 without sites. */
export function worstSite(sites: Site[]): number {
  let best = sites.length > 0 ? 0 : -1;
  sites.forEach((s, i) => {
    const b = sites[best]!;
    if (s.faulted > b.faulted || (s.faulted === b.faulted && s.conflicts > b.conflicts)) best = i;
  });
  return best;
}

/** nextWorst returns the site after `from` in the order of conflicts. */
export function nextWorst(sites: Site[], from: number): number {
  const order = sites.map((_, i) => i).sort((a, b) => sites[b]!.conflicts - sites[a]!.conflicts || a - b);
  return order[(order.indexOf(from) + 1) % order.length] ?? -1;
}
