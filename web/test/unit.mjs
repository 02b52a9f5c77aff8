// SPDX-License-Identifier: Apache-2.0
// Bundles the tests, since node does not read TypeScript, and runs them by node's own runner.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const HERE = dirname(fileURLToPath(import.meta.url));
const tests = readdirSync(HERE).filter((name) => name.endsWith(".test.ts"));
const out = mkdtempSync(join(tmpdir(), "page-test-"));
try {
  await build({
    entryPoints: tests.map((name) => join(HERE, name)),
    bundle: true,
    platform: "node",
    format: "esm",
    outdir: out,
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
  });
  const files = tests.map((name) => join(out, name.replace(/\.ts$/, ".mjs")));
  process.exitCode = spawnSync(process.execPath, ["--test", ...files], { stdio: "inherit" }).status ?? 1;
} finally {
  rmSync(out, { recursive: true });
}
