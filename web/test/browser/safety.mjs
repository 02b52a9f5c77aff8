// SPDX-License-Identifier: Apache-2.0
// Nothing of the profile becomes anything but text, and the page runs nothing but its own script.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { show, text, VIEWS, watched } from "./pages.mjs";

async function hostile(browser, pages) {
  const page = await watched(browser, pages.made);
  const shown = pages.HOSTILE.replace("\u202e", "\ufffd");
  let seen = 0;
  for (const view of [
    ...VIEWS,
    `source?file=/app/${encodeURIComponent(`${shown}.py`)}`,
    "flame?mode=sandwich",
  ]) {
    await show(page, view);
    const found = await page.evaluate(() => ({
      images: document.images.length,
      title: document.title,
      scripts: document.scripts.length,
      text: document.body.innerText,
    }));
    assert.deepEqual([found.images, found.scripts], [0, 2], view);
    assert.ok(found.title !== "1" && !found.text.includes("\u202e"), view);
    seen += found.text.includes("</script><img") ? 1 : 0;
  }
  assert.ok(seen >= 4, `the hostile name is shown as text in ${seen} views only`);
  await page.done();
}

async function policy(browser, pages) {
  const page = await watched(browser, pages.made);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.intruder = 1";
    document.head.append(script);
    document.body.insertAdjacentHTML("beforeend", '<b style="color: red" id="styled">x</b>');
    return [window.intruder, document.getElementById("styled").style.color];
  });
  assert.deepEqual(ran, [undefined, ""]);
  assert.ok(page.complaints.length >= 2, "the browser refuses both, and says so");
  page.complaints.length = 0;
  await page.done();
}

async function whole(browser, pages) {
  const html = readFileSync(pages.made, "utf8");
  const outside = html.match(/(?:src|href)="(?!data:,")[^"]*"/g) ?? [];
  assert.deepEqual(
    outside.filter((link) => !link.includes("onerror")),
    [],
  );
  assert.equal(
    readFileSync(pages.broken, "utf8").split("@PIEPROF_DATA@").length,
    2,
    "the marker is there once",
  );
  const page = await watched(browser, pages.broken);
  assert.match(await text(page), /This page has no profile to show/);
  await page.done();
}

/** No source makes HTML of text; the libraries do so only where they are asked to. */
function sources() {
  const root = fileURLToPath(new URL("../../src", import.meta.url));
  const files = readdirSync(root, { recursive: true }).filter((name) => /\.tsx?$/.test(name));
  const found = files.filter((name) =>
    /innerHTML|outerHTML|insertAdjacentHTML|dangerouslySet|\beval\b/.test(
      readFileSync(join(root, name), "utf8"),
    ),
  );
  assert.ok(files.length > 30);
  assert.deepEqual(found, []);
}

export const tests = {
  "no source makes HTML of text": sources,
  "hostile names are text": hostile,
  "nothing else runs": policy,
  "one file, and one that has no data says so": whole,
};
