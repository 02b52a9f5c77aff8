// SPDX-License-Identifier: Apache-2.0
// usage: node test/speedscope.mjs FILE...
// Opens each file with speedscope itself, as its package of npm has it, in a browser. Prints a line of JSON for each:
// {file, profile: the name that it shows, functions: [[name, total, self], …] of its view Sandwich}; or {file, error}.
// Exits with 77 and the reason where there is no browser or no package of npm.
import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { launch } from "./browser/launch.mjs";

const APP = join(dirname(fileURLToPath(import.meta.url)), "..", "node_modules/speedscope/dist/release/index.html");
const PATIENCE_MS = 30_000;

async function functions(page) {
  // A file of several profiles has a hidden table of those, too: only functions have a share in percent.
  const rows = page.locator("table tr").filter({ hasText: "%)" });
  // A click while the picture is still drawn for the first time is lost.
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end && (await rows.count()) === 0; ) {
    await page.getByText("Sandwich").click();
    await page.waitForTimeout(200);
  }
  return rows.evaluateAll((all) =>
    all.map((row) => {
      const [total, self, name] = [...row.querySelectorAll("td")].map((cell) => cell.innerText.trim());
      return [name, total, self];
    }),
  );
}

async function open(browser, file) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("dialog", (dialog) => dialog.dismiss());
  try {
    await page.goto(pathToFileURL(APP).href);
    await page.setInputFiles("input[type=file]", file);
    await page.waitForFunction(() => document.title !== "speedscope", undefined, { timeout: PATIENCE_MS });
    const [, profile] = (await page.evaluate(() => document.body.innerText)).split("\n");
    const found = { file: basename(file), profile, functions: await functions(page) };
    return errors.length > 0 ? { file: basename(file), error: errors[0] } : found;
  } catch (error) {
    return { file: basename(file), error: errors[0] ?? String(error).split("\n")[0] };
  } finally {
    await page.close();
  }
}

if (!existsSync(APP)) {
  console.log("SKIP npm ci has not been run in web/: there is no speedscope");
  process.exit(77);
}
const browser = await launch();
for (const file of process.argv.slice(2)) console.log(JSON.stringify(await open(browser, file)));
await browser.close();
