// The page's own files, from the server or from inside an exported page, where they are kept in inert script elements.

/** embedded returns the element that holds a file of an exported page. */
export function embedded(name: string): Element | null {
  return document.querySelector(`[data-file="${name}"]`);
}

async function get(name: string): Promise<Response> {
  const reply = await fetch(name);
  if (!reply.ok) throw new MissingFile(name);
  return reply;
}

/** A MissingFile is a file that this build of the program lacks. */
export class MissingFile extends Error {
  constructor(readonly file: string) {
    super(`${file} is not part of this build`);
  }
}

export async function textOf(name: string): Promise<string> {
  const el = embedded(name);
  return el ? (el.textContent ?? "") : (await get(name)).text();
}

export async function bytesOf(name: string): Promise<Uint8Array> {
  const el = embedded(name);
  if (!el) return new Uint8Array(await (await get(name)).arrayBuffer());
  return Uint8Array.from(atob((el.textContent ?? "").trim()), (c) => c.charCodeAt(0));
}

export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let i = 0; i < bytes.length; i += 0x8000) text += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(text);
}
