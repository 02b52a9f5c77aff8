// SPDX-License-Identifier: Apache-2.0
// usage: node test/serve.mjs URL DB PID PROGRAM
// The page from `pieprof serve` in a real browser while the process PID runs: its figures move, what is chosen stays, and
// each is that of `PROGRAM query DB --json`. The process is stopped for the comparison, so that both see one state.
// Prints TAP. Exits with 77 and the reason where there is no browser or no package of npm.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { launch } from "./browser/launch.mjs";
import { show, text } from "./browser/pages.mjs";
import { Tap } from "./browser/tap.mjs";

const [url, db, pid, program] = process.argv.slice(2);
const { origin, searchParams } = new URL(url);
const ALLOWED_MS = 60_000;

const tap = new Tap();
const browser = await launch();
const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
context.setDefaultTimeout(ALLOWED_MS);
const page = await context.newPage();
const complaints = [];
page.on("console", (message) => complaints.push(`console ${message.type()}: ${message.text()}`));
page.on("pageerror", (error) => complaints.push(`error: ${error.stack}`));
page.on("request", (request) => {
  if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith("data:"))
    complaints.push(`request: ${request.url()}`);
});

function query(question) {
  const told = execFileSync(program, ["query", db, question, "--json"], { encoding: "utf8" });
  return JSON.parse(told).rows;
}

/** CPU seconds of the run, as the page has them. */
async function shownCpu() {
  return Number(/([\d.]+) s CPU/.exec(await text(page, "header"))[1]);
}

async function until(what, holds) {
  for (const end = Date.now() + ALLOWED_MS; Date.now() < end; ) {
    const found = await holds();
    if (found) return found;
    await new Promise((done) => setTimeout(done, 100));
  }
  assert.fail(`${what} did not come in time`);
}

/** The process stands still, and the page has what it has written. */
async function stopped() {
  process.kill(pid, "SIGSTOP");
  await until("the last state", async () => {
    const tag = await page.getAttribute(".live", "data-tag");
    const answer = await fetch(`${origin}/data`, {
      headers: { Authorization: `Bearer ${searchParams.get("token")}`, "If-None-Match": tag },
    });
    return answer.status === 304;
  });
}

async function moves() {
  await page.goto(url);
  await page.waitForSelector(".live.is-live");
  assert.equal(page.url(), `${origin}/`, "the token is not in the address");
  assert.match(await text(page, ".live"), /^live, updated \d\d:\d\d:\d\d\s+Pause$/);
  const first = await shownCpu();
  await until("more CPU time", async () => (await shownCpu()) >= first + 0.3);
}

/** A frame that is zoomed into, a search, a folded row, the order of a table. */
async function stays() {
  await show(page, "flame?q=hot&mode=flame");
  await page.locator(".flame-view [role=row]", { hasText: "hot" }).first().dblclick();
  await page.waitForSelector("text=Show all");
  const before = await page.getAttribute(".live", "data-tag");
  const whole = await text(page, ".status");
  await until("newer data", async () => (await page.getAttribute(".live", "data-tag")) !== before);
  await until("a newer figure", async () => (await text(page, ".status")) !== whole);
  assert.match(await text(page, ".status"), /matching: .*Show all/s);
  assert.ok(page.url().endsWith("#/flame?q=hot&mode=flame"));
}

async function agrees() {
  await show(page, "start");
  await stopped();
  const [run] = query("runs");
  const lines = query("select * from v_own_line where run = 1 order by cpu_s desc, wait_s desc");
  const header = await text(page, "header");
  assert.ok(header.includes(`${run.wall_s.toFixed(2)} s in all`), header);
  assert.ok(header.includes(`${run.cpu_s.toFixed(2)} s CPU`), header);
  const split = await text(page, ".split");
  const [main] = query("threads");
  for (const part of ["python_s", "native_s", "system_s", "wait_s"])
    assert.ok(split.includes(`${main[part].toFixed(2)} s`), `${part} ${main[part]}: ${split}`);
  const [heap] = query("heap");
  assert.ok((await text(page, ".right .headline")).includes(`Python ${share(heap)}`));
  const shown = await page.$$eval(".lines .body [role=row]", (rows) => rows.map((row) => row.innerText));
  for (const [i, line] of lines.slice(0, 3).entries())
    assert.ok(shown[i].includes(line.cpu_s.toFixed(3)), `${line.line}: ${line.cpu_s}: ${shown[i]}`);
  await source(lines[0]);
  await flame(run);
  await show(page, "processes");
  assert.ok((await text(page)).includes(run.cpu_s.toFixed(3)));
}

function share(heap) {
  return `${((100 * heap.peak_python_bytes) / heap.peak_bytes).toFixed(0)} %`;
}

async function source(line) {
  await show(page, `source?file=${line.file}&line=${line.line}`);
  const row = await text(page, ".source-view .current");
  for (const figure of [line.cpu_s.toFixed(3), `${(100 * line.cpu_share).toFixed(1)} %`])
    assert.ok(row.includes(figure), `${figure}: ${row}`);
}

async function flame(run) {
  await show(page, "flame?by=cpu");
  assert.ok((await text(page, ".status")).startsWith(`${run.cpu_s.toFixed(2)} s`));
  await show(page, "flame?by=wait");
  // What threads waited for where nothing was seen of them has no context, so this is a little less than the run's.
  const [{ wait_s }] = query("select sum(wait_s) as wait_s from v_function where run = 1");
  assert.ok((await text(page, ".status")).startsWith(`${wait_s.toFixed(2)} s`));
}

async function pauses() {
  await page.keyboard.press("p");
  process.kill(pid, "SIGCONT");
  const before = await shownCpu();
  await until("a newer state of the file", async () => query("runs")[0].cpu_s > before + 0.3);
  await new Promise((done) => setTimeout(done, 1500));
  assert.match(await text(page, ".live"), /^paused, as of /);
  assert.equal(await shownCpu(), before);
  await page.click("text=Go on");
  await until("more CPU time", async () => (await shownCpu()) > before + 0.2);
}

async function ends() {
  process.kill(pid, "SIGTERM");
  await page.waitForSelector(".live.is-ended");
  await until("the end", async () => (await text(page, "header")).includes("ended: signal 143"));
  assert.ok((await text(page, "header")).includes(`${query("runs")[0].cpu_s.toFixed(2)} s CPU`));
}

await tap.run(
  "serve",
  {
    "figures move": moves,
    "what is chosen stays": stays,
    "figures are those of query --json": agrees,
    "a pause": pauses,
    "the end": ends,
    "no message, no request to others": () => assert.deepEqual(complaints, []),
  },
  browser,
);
await browser.close();
process.exitCode = tap.finish() ? 0 : 1;
