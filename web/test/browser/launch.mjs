// SPDX-License-Identifier: Apache-2.0
// The browser of the tests. Ends with 77 and the reason where there is none, or no package of npm.
import { existsSync } from "node:fs";

const BROWSERS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

function skip(why) {
  console.log(`1..0 # SKIP ${why}`);
  process.exit(77);
}

export async function launch() {
  const executablePath = BROWSERS.find((path) => path && existsSync(path));
  if (!executablePath) skip("there is no chromium");
  if (Number.parseInt(process.versions.node, 10) < 20)
    skip(`node is ${process.versions.node}; the browser is driven from 20 on`);
  const { chromium } = await import("playwright-core").catch(() => skip("npm ci has not been run in web/"));
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
}
