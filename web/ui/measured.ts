// Sweeps measured on a device, read from the JSON that "shmoo sweep --json" writes ("shmoo.sweep/1").

/** A MeasuredPoint is one row of a sweep. */
export interface MeasuredPoint {
  median: number; // seconds; NaN for a failure
  said: string; // the row in words
}

export interface Measured {
  name: string; // of the file
  params: { name: string; values: string[] }[]; // those that vary: one or two
  points: Map<string, MeasuredPoint>; // by the values of params, joined by spaces
}

interface Row {
  point: string;
  summary?: { median: number; low: number; high: number; n: number };
  verdict?: string;
  failure?: string;
}

const maxRows = 1 << 14;

/** readSweep reads a sweep; what does not fit is an error in words. */
export function readSweep(name: string, text: string): Measured {
  let doc: { schema?: unknown; rows?: unknown };
  try {
    doc = JSON.parse(text) as typeof doc;
  } catch {
    throw new Error(`${name}: not JSON; want what shmoo sweep --json writes`);
  }
  if (doc?.schema !== "shmoo.sweep/1" || !Array.isArray(doc.rows)) {
    throw new Error(`${name}: got schema ${String(doc?.schema)}, want shmoo.sweep/1`);
  }
  const rows = (doc.rows as Row[]).slice(0, maxRows).map((row) => ({ row, at: values(row.point) }));
  const names = [...(rows[0]?.at.keys() ?? [])];
  const all = names.map((n) => ({ name: n, values: [...new Set(rows.map((r) => r.at.get(n) ?? ""))] }));
  const params = all.filter((p) => p.values.length > 1);
  if (params.length === 0) params.push(...all.slice(0, 1));
  if (params.length < 1 || params.length > 2) throw new Error(`${name}: ${params.length} parameters vary, want one or two`);
  const points = new Map(rows.map(({ row, at }) => [params.map((p) => at.get(p.name)).join(" "), pointOf(row)]));
  return { name, params, points };
}

/** values takes "A=1,B=2" apart. */
function values(point: unknown): Map<string, string> {
  return new Map(String(point).split(",").map((part) => {
    const [name = "", value = ""] = part.split("=");
    return [name.trim(), value.trim()];
  }));
}

function pointOf(row: Row): MeasuredPoint {
  const s = row.summary;
  if (row.failure || !s || !(s.median > 0)) return { median: NaN, said: `${row.point}: ${row.failure ?? "not measured"}` };
  return {
    median: s.median,
    said: `${row.point}: median ${seconds(s.median)}, interval ${seconds(s.low)} to ${seconds(s.high)} of ${s.n} samples${row.verdict ? `, ${row.verdict}` : ""}`,
  };
}

/** seconds writes a time with three digits and a unit. */
export function seconds(t: number): string {
  const [scale, unit] = t < 1e-6 ? [1e9, "ns"] : t < 1e-3 ? [1e6, "µs"] : t < 1 ? [1e3, "ms"] : [1, "s"];
  return `${Number((t * scale).toPrecision(3))} ${unit}`;
}
