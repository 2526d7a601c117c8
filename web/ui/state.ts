// Everything that a share link carries, and its form in the URL: "#s=" and deflated JSON in URL-safe base64.

import type { Input, Shape } from "./types";
import { base64 } from "./resources";

export const panes = ["banks", "pads", "fix", "space", "binary"] as const;
export type Pane = (typeof panes)[number];

export interface State {
  name: string;
  source: string;
  arch: string; // "" for the default
  block: Shape; // zeros: what the source says
  grid: Shape;
  defines: string[];
  shared: number;
  kernel: string;
  binary: boolean; // the kernel is one of the server's binary, not of the source
  pane: Pane;
  site: number; // -1: the worst
  warp: number; // -1: the worst request
  execution: number;
  step: number; // -1: all steps done
  pads: number[];
  space: string;
  measure: "ways" | "conflicts";
}

export const initial: State = {
  name: "sketch.cu", source: "", arch: "", block: [0, 0, 0], grid: [0, 0, 0], defines: [], shared: 0, kernel: "", binary: false,
  pane: "banks", site: -1, warp: -1, execution: -1, step: -1, pads: [0, 1, 2, 4, 8], space: "", measure: "ways",
};

async function through(bytes: Uint8Array, transform: GenericTransformStream): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(transform);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** encode writes what differs from the initial state. */
export async function encode(state: State): Promise<string> {
  const differs = Object.entries(state).filter(([k, v]) => JSON.stringify(v) !== JSON.stringify(initial[k as keyof State]));
  const json = new TextEncoder().encode(JSON.stringify(Object.fromEntries(differs)));
  const zipped = await through(json, new CompressionStream("deflate-raw"));
  return "#s=" + base64(zipped).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

// A link is foreign input: it must not inflate without bound, and only fields of the right kind are taken from it.
const maxInflated = 1 << 20;

async function inflate(bytes: Uint8Array): Promise<string> {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
  const chunks: Uint8Array[] = [];
  for (let size = 0; ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > maxInflated) throw new Error("the link holds too much");
    chunks.push(value);
  }
  return new Blob(chunks as BlobPart[]).text();
}

/** decode reads a link; null for a URL without one. */
export async function decode(hash: string): Promise<State | null> {
  if (!hash.startsWith("#s=")) return null;
  const packed = atob(hash.slice(3).replaceAll("-", "+").replaceAll("_", "/"));
  return checked(JSON.parse(await inflate(Uint8Array.from(packed, (c) => c.charCodeAt(0)))));
}

/** checked takes from a value of unknown origin the fields that fit a state. */
export function checked(value: unknown): State {
  const out: State = { ...initial };
  if (typeof value !== "object" || value === null) return out;
  const given = value as Record<string, unknown>;
  const same = (a: unknown, b: unknown): boolean =>
    Array.isArray(b) ? Array.isArray(a) && a.every((x) => typeof x === (b.length ? typeof b[0] : "string")) : typeof a === typeof b;
  for (const key of Object.keys(initial) as (keyof State)[]) {
    if (given[key] === undefined || !same(given[key], initial[key])) continue;
    if ((key === "block" || key === "grid") && (given[key] as unknown[]).length !== 3) continue;
    (out as unknown as Record<string, unknown>)[key] = given[key];
  }
  if (!panes.includes(out.pane)) out.pane = initial.pane;
  if (out.measure !== "conflicts") out.measure = "ways";
  return out;
}

/** fromInput returns the part of a state that an input decides. */
export function fromInput(q: Input): Partial<State> {
  const { name, source, block, grid, defines, dynamic_shared: shared, kernel } = q;
  return {
    name: name ?? initial.name, source, block, grid, defines: defines ?? [], shared: shared ?? 0, kernel: kernel ?? "",
  };
}
