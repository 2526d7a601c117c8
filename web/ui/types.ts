// The documents of the server, field for field: "shmoo.report/1", "shmoo.explain/1", "shmoo.map/1", "shmoo.fix/1" and the
// envelopes of package web/eval.

export interface Tally {
  requests: number;
  wavefronts: number;
  ideal: number;
  conflicts: number;
  ways: number;
  cycles: number;
  unresolved: number;
  unresolved_reasons?: Record<string, number>;
  faulted: number;
  coverage: number;
  basis: string;
}

export interface Site extends Tally {
  array: string;
  op: string;
  width: number;
  instr?: string;
  text?: string;
  pc?: number;
  file: string;
  line: number;
  col: number; // in bytes, from 1
  fault?: string;
}

export interface Diagnostic {
  id: string;
  severity: "error" | "warning" | "note";
  file: string;
  line: number;
  col: number;
  message: string;
  fixes?: string[];
}

export interface SharedArray {
  name: string;
  type?: string;
  bytes: number;
  elem_bytes?: number;
  dims?: number[];
  dynamic: boolean;
}

export interface Report {
  schema: string;
  arch: string;
  kernel?: string;
  launch?: { block: Shape; grid: Shape; dynamic_shared: number; assumed?: string };
  sites: Site[];
  arrays: SharedArray[];
  totals: Tally;
  diagnostics: Diagnostic[];
}

export type Shape = [number, number, number];

export interface Input {
  name?: string;
  source: string;
  arch?: string;
  block: Shape;
  grid: Shape;
  blocks?: number[];
  defines?: string[];
  dynamic_shared?: number;
  kernel?: string;
  binary?: boolean;
}

export interface Evaluated {
  report: Report;
  format: string;
}

export interface Problem {
  schema: string;
  message: string;
  diagnostics: Diagnostic[];
}

export interface Catalogue {
  examples: (Input & { title: string })[];
  archs: { name: string; title: string }[];
  default_arch: string;
  binary?: string;
}

export interface PlacedAccess {
  lane: number;
  address: number;
  word: number;
  words: number;
  bank: number;
  row: number;
  group: number;
  pass: number;
}

export interface Cell {
  bank: number;
  word: number;
  run: number;
  lanes: number[];
  serves: { pass: number; lanes: number[] }[];
}

export interface Panel {
  title: string;
  refused?: string;
  op: string;
  width: number;
  lanes: number;
  banks: number;
  bankbytes: number;
  active: number[];
  paired: boolean;
  perpass: number;
  totals: { wavefronts: number; ideal: number; conflicts: number; ways: number; cycles: number; basis: string };
  groups: { index: number; lanes: number[]; first: number; passes: number }[];
  passes: { name: string; group: number; pass: number; lanes: number[] }[];
  accesses: PlacedAccess[];
  rows: { row: number; gap: number; cells: Cell[] }[];
  counts: { bank: number; lanes: number; words: number; passes: number; ways: number }[];
}

export interface Step {
  stage: string;
  lanes: number[];
  waiting: number[];
  pass: number;
  text: string;
}

export interface Explanation {
  schema: string;
  arch: string;
  title: string;
  request: { op: string; width: number; active: number[] };
  rule: { groups: number[][]; paired: number[][]; shares: boolean; perpass: number; floor: number; basis: string; provenance?: string };
  pairing: { possible: boolean; pairs: boolean; distance: number; breaks?: [number, number][] };
  why: string;
  steps: Step[];
  picture?: Panel;
  notes: string[];
  fault?: { kind: string; lane: number; address: number; text: string; advice: string };
}

export interface WarpRuns {
  block: number;
  warp: number;
  wavefronts: number[]; // -1 unresolved, -2 refused
  ideal: number[];
}

export interface View {
  site: number;
  warps: WarpRuns[];
  truncated: boolean;
  warp: number;
  execution: number;
  explain: Explanation | null;
  addresses: number[];
  unresolved: string;
  pads?: { schema: string; arch: string; title?: string; panels: Panel[] };
  pads_error?: string;
}

export interface Candidate {
  family: string;
  transform: string;
  on_elements?: string;
  wavefronts: number;
  sites: number[];
  bytes: number;
  instructions: number;
  blocks_per_sm: number;
  narrowed?: number[];
}

export interface FixResult {
  schema: string;
  arch: string;
  array: string;
  bytes: number;
  sites: { site: string; line?: number; col?: number; op: string; width: number; ideal: number; bound: number }[];
  unresolved: number;
  before: Candidate;
  pareto: Candidate[];
  best: Candidate | null;
  reason: string;
  bound: number;
  optimal_in_family: boolean;
  optimal_in_general: boolean;
}

export interface FixOption {
  forms: { form: string; text?: string; error?: string }[];
  source?: string; // the sketch with the fix in it
  dynamic_shared?: number; // that it then needs
  refused?: string; // why the sketch cannot be rewritten
}

export interface Fixes {
  arrays: { result?: FixResult; options: FixOption[]; array: string; error?: string }[];
}

export interface SpacePoint {
  ways: number;
  wavefronts: number;
  ideal: number;
  conflicts: number;
  unresolved: number;
  error?: string;
}

export interface Space {
  params: { name: string; values: string[] }[];
  points: SpacePoint[];
  stopped: boolean;
}

export interface Kernels {
  kernels: {
    target: string;
    name: string;
    demangled: string;
    registers: number;
    shared_bytes: number;
    accesses: { op: string; width_bytes: number; count: number }[];
    not_decoded?: string;
  }[];
  matches: number;
  total: number;
}

export interface Code {
  lines: { text: string; pc: number; file?: string; line?: number }[];
  truncated: boolean;
}
