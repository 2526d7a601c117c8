// Where answers come from: the server that sent the page, or the model in the page itself as WebAssembly.

import type { Problem } from "./types";
import { bytesOf, embedded } from "./resources";

/** A CallError carries the document that describes what went wrong. */
export class CallError extends Error {
  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

export interface Backend {
  readonly kind: "server" | "model";
  call<Reply>(name: string, question: unknown, signal?: AbortSignal): Promise<Reply>;
}

class Server implements Backend {
  readonly kind = "server";

  async call<Reply>(name: string, question: unknown, signal?: AbortSignal): Promise<Reply> {
    const reply = await fetch(`api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(question),
      ...(signal ? { signal } : {}),
    });
    const doc: unknown = await reply.json();
    if (!reply.ok) throw new CallError(doc as Problem);
    return doc as Reply;
  }
}

// What the runner of Go's WebAssembly (wasm_exec.js) and the model itself put into the global scope.
declare class Go {
  importObject: WebAssembly.Imports;
  run(instance: WebAssembly.Instance): Promise<void>;
}
declare global {
  interface Window {
    shmooCall?: (name: string, question: string) => { ok: boolean; reply: string };
    shmooReady?: () => void;
  }
}

class Model implements Backend {
  readonly kind = "model";
  private queue: Promise<unknown> = Promise.resolve();

  async call<Reply>(name: string, question: unknown, signal?: AbortSignal): Promise<Reply> {
    // One question at a time, and one that has been replaced by a newer one is not computed at all.
    const mine = this.queue.then(async () => {
      await new Promise((r) => setTimeout(r));
      if (signal?.aborted) throw new DOMException("replaced", "AbortError");
      if (!window.shmooCall) throw new Error("the model is not running; reload the page");
      const { ok, reply } = window.shmooCall(name, JSON.stringify(question));
      const doc: unknown = JSON.parse(reply);
      if (!ok) throw new CallError(doc as Problem);
      return doc as Reply;
    });
    this.queue = mine.catch(() => undefined);
    return mine;
  }
}

async function startModel(): Promise<Backend> {
  const zipped = await bytesOf("model.wasm.gz");
  const stream = new Blob([zipped as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
  const wasm = await new Response(stream).arrayBuffer();
  const go = new Go();
  const { instance } = await WebAssembly.instantiate(wasm, go.importObject);
  const ready = new Promise<void>((resolve) => {
    window.shmooReady = resolve;
  });
  void go.run(instance);
  await ready;
  return new Model();
}

/** connect returns the model where the page brings it along, else the server. */
export function connect(): Promise<Backend> {
  const mode = document.querySelector('meta[name="shmoo-backend"]')?.getAttribute("content");
  return mode === "model" || embedded("model.wasm.gz") ? startModel() : Promise.resolve(new Server());
}
