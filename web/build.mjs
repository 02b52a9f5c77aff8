// SPDX-License-Identifier: Apache-2.0
// Builds dist/page.html: one file with script and style in it, a Content-Security-Policy of their hashes, and a
// marker where pieprof puts a profile's data. With --data FILE it also fills one in: dist/FILE's name.html.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
export const MARKER = "@PIEPROF_DATA@";
const SIZE_MAX_BYTES = 300_000;

async function bundled() {
  const result = await build({
    entryPoints: [join(HERE, "src/main.tsx")],
    bundle: true,
    minify: true,
    write: false,
    outdir: join(HERE, "dist"),
    format: "iife",
    target: "es2022",
    charset: "utf8",
    jsx: "automatic",
    jsxImportSource: "preact",
    legalComments: "none",
    logLevel: "warning",
  });
  const of = (ending) => result.outputFiles.find((file) => file.path.endsWith(ending)).text.trim();
  return { script: of(".js"), style: of(".css") };
}

/** As a source of a Content-Security-Policy. */
function hash(text) {
  return `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;
}

export async function page() {
  const { script, style } = await bundled();
  const policy = [
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const parts = { "/*POLICY*/": policy, "/*STYLE*/": style, "/*SCRIPT*/": script };
  const template = readFileSync(join(HERE, "src/page.html"), "utf8");
  return template.replace(/\/\*(POLICY|STYLE|SCRIPT)\*\//g, (marker) => parts[marker]);
}

/** JSON in a page: without "<" nothing in it can end the element that holds it. */
export function filled(html, json) {
  const at = html.indexOf(MARKER);
  return (
    html.slice(0, at) +
    json.replaceAll("<", "\\u003c").replaceAll("\u2028", "\\u2028").replaceAll("\u2029", "\\u2029") +
    html.slice(at + MARKER.length)
  );
}

async function main(args) {
  const html = await page();
  const size = Buffer.byteLength(html);
  if (size > SIZE_MAX_BYTES) throw new Error(`the page has ${size} bytes; ${SIZE_MAX_BYTES} are allowed`);
  mkdirSync(join(HERE, "dist"), { recursive: true });
  writeFileSync(join(HERE, "dist/page.html"), html);
  console.log(`web/dist/page.html: ${size} bytes`);
  if (args[0] === "--data") {
    const name = `${basename(args[1], ".json")}.html`;
    writeFileSync(join(HERE, "dist", name), filled(html, readFileSync(args[1], "utf8")));
    console.log(`web/dist/${name}`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
