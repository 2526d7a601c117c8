// One self-contained page from the present one: its files, the model as WebAssembly and the state, all in one HTML file
// that asks the network for nothing and works from disk. An exported page can be exported again.

import { base64, bytesOf, embedded, textOf } from "./resources";
import { download } from "./save";
import type { State } from "./state";

/** The policy of an exported page: its own inline files and nothing from anywhere. */
const policy = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; " +
  "base-uri 'none'; form-action 'none'";

/** markup returns the body of the page as it was before any script ran. */
async function markup(): Promise<string> {
  if (embedded("body.html")) return JSON.parse(await textOf("body.html")) as string;
  const page = await textOf("index.html");
  const body = /<body>([^]*?)<script/.exec(page)?.[1];
  if (!body) throw new Error("index.html has no body");
  return body;
}

/** inert keeps a text from ending the script element that holds it. */
function inert(text: string): string {
  return text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
}

function data(name: string, type: string, text: string): string {
  return `<script type="${type}" data-file="${name}">${text}</script>`;
}

export async function exportPage(state: State): Promise<void> {
  const [body, css, app, runner, model] = await Promise.all([
    markup(), textOf("app.css"), textOf("app.js"), textOf("wasm_exec.js"), bytesOf("model.wasm.gz"),
  ]);
  const json = (value: unknown) => JSON.stringify(value).replaceAll("<", "\\u003c");
  const page = [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n<meta name="color-scheme" content="light dark">',
    '<meta name="shmoo-backend" content="model">\n<title>Shmoo</title>\n<link rel="icon" href="data:,">',
    `<style data-file="app.css">${css}</style>\n</head>\n<body>${body}`,
    data("state.json", "application/json", json(state)),
    data("body.html", "application/json", json(body)),
    data("model.wasm.gz", "text/plain", base64(model)),
    data("wasm_exec.js", "text/javascript", inert(runner)),
    data("app.js", "text/javascript", inert(app)),
    "</body>\n</html>\n",
  ].join("\n");
  download(`${state.name.replace(/\.\w+$/, "") || "shmoo"}.html`, new Blob([page], { type: "text/html" }));
}
