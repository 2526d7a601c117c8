// The page: connects the parts.

import { App } from "./app";
import { BankPane } from "./banks";
import { BinaryPane } from "./binary";
import { CodeView } from "./code";
import { connect } from "./backend";
import { byId, h, number, plural, replace } from "./dom";
import { Editor } from "./editor";
import { Fields, messages } from "./fields";
import { exportPage } from "./export";
import { FixPane } from "./fix";
import { PadsPane } from "./pads";
import { MissingFile } from "./resources";
import { SpacePane } from "./space";
import { checked, decode, fromInput, initial, panes, type Pane, type State } from "./state";
import { darkQuery } from "./theme";
import type { Catalogue, Input } from "./types";

/** opening returns the state to open with: the link, what an exported page brings along, what the server was given, or null. */
async function opening(server: boolean): Promise<State | null> {
  const linked = await decode(location.hash).catch(() => {
    toast("The link is damaged; this is the page without it.");
    return null;
  });
  if (linked) return linked;
  const saved = document.querySelector('[data-file="state.json"]');
  if (saved) return checked(JSON.parse(saved.textContent ?? "null"));
  if (!server) return null;
  const given = (await (await fetch("initial.json")).json()) as Input | null;
  return given ? checked({ ...initial, ...fromInput(given), arch: given.arch ?? "" }) : null;
}

async function start(): Promise<void> {
  const backend = await connect();
  const app = new App(backend, await backend.call<Catalogue>("examples", {}));
  const fields = new Fields(app);
  const editor = new Editor(app);
  const code = new CodeView(app);
  const banks = new BankPane(app, (on) => {
    const site = app.report?.sites[app.site];
    if (site && app.state.binary) code.light(site, on);
    else if (site) editor.lightLine(site.line, on);
  });
  const pads = new PadsPane(app);
  const fix = new FixPane(app);
  const space = new SpacePane(app);
  const binary = app.catalogue.binary ? new BinaryPane(app) : null;
  const shown: Partial<Record<Pane, { el: HTMLElement; render(): void }>> = { banks, pads, fix, space, ...(binary ? { binary } : {}) };

  byId("fields").replaceWith(fields.el);
  byId("editor").replaceWith(editor.el, code.el);
  byId("panes").append(...Object.values(shown).map((p) => p.el));
  const tabs = byId("tabs");
  for (const pane of panes) {
    if (!shown[pane]) continue;
    tabs.append(h("button", {
      type: "button", role: "tab", id: `tab-${pane}`, "aria-controls": `pane-${pane}`, onclick: () => app.set({ pane }),
    }, titles[pane]));
  }
  tabs.addEventListener("keydown", (e) => moveTab(e, tabs));

  const renderPane = () => {
    const active = shown[app.state.pane] ? app.state.pane : "banks";
    for (const [name, pane] of Object.entries(shown)) {
      const on = name === active;
      pane.el.hidden = !on;
      const tab = byId(`tab-${name}`);
      tab.setAttribute("aria-selected", String(on));
      tab.tabIndex = on ? 0 : -1;
      if (on) pane.render();
    }
  };
  const renderReport = () => {
    editor.render();
    code.render();
    fields.render();
    messages(byId("messages"), app, (line, col) => editor.goto(line, col));
    renderTotals(app);
    renderPane();
  };
  app.listen((change) => {
    if (change === "step" && app.state.pane === "banks") banks.renderStep();
    else if (change === "busy") document.body.classList.toggle("busy", app.busy);
    else if (change === "view") {
      editor.render();
      code.render();
      renderPane();
    } else if (change === "pane") renderPane();
    else renderReport();
  });
  fields.el.addEventListener("opened", () => {
    fix.forget();
    editor.load();
  });
  fix.el.addEventListener("applied", () => {
    fields.load();
    editor.load();
  });
  space.el.addEventListener("opened", () => fields.load());
  binary?.el.addEventListener("opened", () => {
    fields.load();
    editor.load();
    code.render();
  });
  darkQuery.addEventListener("change", renderPane);
  window.addEventListener("resize", renderPane);
  window.addEventListener("hashchange", () => void decode(location.hash).then((s) => s && load(s), () => toast("The link is damaged.")));

  const load = (state: State) => {
    if (state.binary && !binary) {
      toast("The link is about a binary that this page does not have.");
      state = { ...state, binary: false, kernel: "" };
    }
    app.open(state);
    fields.load();
    editor.load();
  };
  byId("share").addEventListener("click", () => void share(app));
  byId("export").addEventListener("click", () => exportPage({ ...app.state, binary: false }).catch((err: unknown) => {
    toast(err instanceof MissingFile ? "This build of the program has no model to export; see the manual for one that has." : String(err));
  }));
  const state = await opening(backend.kind === "server");
  if (state) load(state);
  else if (binary) load({ ...initial, ...fromInput(app.catalogue.examples[0] ?? app.input()), pane: "binary" });
  else fields.open(app.catalogue.examples.find((e) => e.title === "transpose")?.title ?? app.catalogue.examples[0]?.title ?? "");
  document.body.classList.add("ready");
}

const titles: Record<Pane, string> = { banks: "Banks", pads: "Pads", fix: "Fix", space: "Space", binary: "Binary" };

/** moveTab is the keyboard of a tab list: arrows choose the neighbour. */
function moveTab(e: KeyboardEvent, tabs: HTMLElement): void {
  const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
  if (step === 0) return;
  e.preventDefault();
  const all = [...tabs.querySelectorAll<HTMLElement>('[role="tab"]')];
  const next = all[(all.indexOf(document.activeElement as HTMLElement) + step + all.length) % all.length];
  next?.click();
  next?.focus();
}

function renderTotals(app: App): void {
  const el = byId("totals");
  if (app.problem) {
    el.className = "totals bad";
    replace(el, app.problem.diagnostics[0] ? plural(app.problem.diagnostics.length, "error") : app.problem.message.split("\n")[0]!);
    return;
  }
  const t = app.report?.totals;
  if (!t) return replace(el);
  el.className = "totals " + (t.faulted || t.conflicts ? "hot" : t.unresolved ? "unknown" : "clean");
  const figure = (id: string, n: number, noun: string) => h("span", { class: "figure" }, h("b", { id: `total-${id}` }, number(n)), ` ${noun}`);
  replace(el,
    figure("requests", t.requests, "requests"), figure("wavefronts", t.wavefronts, "wavefronts"), figure("ideal", t.ideal, "ideal"),
    figure("conflicts", t.conflicts, "conflicts"), figure("ways", t.ways, "worst ways"),
    t.unresolved ? figure("unresolved", t.unresolved, "unresolved") : null,
    t.faulted ? figure("faulted", t.faulted, "refused") : null,
    h("span", { class: "soft" }, `${t.basis}${app.report?.launch?.assumed ? `; ${app.report.launch.assumed}` : ""} · ${app.took.toFixed(0)} ms`));
}

async function share(app: App): Promise<void> {
  const url = await app.url();
  history.replaceState(null, "", new URL(url).hash);
  let said = "the link is in the address bar";
  try {
    await navigator.clipboard.writeText(url);
    said = "link copied";
  } catch {
    // No permission to write to the clipboard: the address bar has the link all the same.
  }
  toast(said);
}

/** toast says something for a moment. */
export function toast(text: string): void {
  const el = byId("toast");
  el.textContent = text;
  el.classList.add("on");
  setTimeout(() => el.classList.remove("on"), 2500);
}

start().catch((err: unknown) => {
  replace(byId("totals"), `The page cannot start: ${err instanceof Error ? err.message : String(err)}`);
});
