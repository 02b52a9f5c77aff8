// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { resampled } from "../src/data/curves";
import { costsOf, type Part, parsePart, parsePeriod } from "../src/data/filter";
import { againWords, cards, fraction } from "../src/data/findings";
import { cpuOf, linesOf, wholeLines } from "../src/data/lines";
import { sum } from "../src/data/measures";
import { trunkLength } from "../src/data/paths";
import { Profile, rowCount, rows } from "../src/data/profile";
import { total, tracks } from "../src/data/tracks";
import { highlight } from "../src/ui/highlight";
import { hits } from "../src/ui/search";
import { HOSTILE, made } from "./made";

const of = new Profile(made());
const WHOLE: Part = { period: null, process: null, thread: null };
const CPU = ["python", "native", "system"] as const;

function cpuIn(part: Partial<Part>): number {
  const values = sum(costsOf(of.data, of.tree.size, { ...WHOLE, ...part }), [...CPU])!;
  return +values.reduce((all, value) => all + value, 0).toFixed(6);
}

test("a table of columns becomes rows, and a missing one none", () => {
  assert.deepEqual(rows({ a: [1, 2], b: ["x", "y"] }), [
    { a: 1, b: "x" },
    { a: 2, b: "y" },
  ]);
  assert.equal(rowCount(undefined), 0);
});

test("texts of the profile cannot steer the page", () => {
  const texts = JSON.stringify(of.data);
  assert.ok(!texts.includes("\u202e"));
  assert.ok(texts.includes("onerror"), "but nothing else is taken from them");
});

test("the sum over all slices, processes and threads is the run's", () => {
  assert.equal(cpuIn({}), 10);
  assert.equal(cpuIn({ process: 1 }) + cpuIn({ process: 2 }), 10);
  assert.equal(cpuIn({ process: 2 }), 3);
  assert.equal(cpuIn({ process: 1, thread: 1 }) + cpuIn({ process: 1, thread: 2 }), 7);
  assert.equal(cpuIn({ period: { from_s: 0, to_s: 5 } }) + cpuIn({ period: { from_s: 5, to_s: 10 } }), 10);
});

test("a period is whole slices, and what has no slice is not known of it", () => {
  assert.equal(cpuIn({ period: { from_s: 4, to_s: 5 } }), 3);
  assert.equal(cpuIn({ period: { from_s: 4.3, to_s: 5.3 } }), 3);
  const costs = costsOf(of.data, of.tree.size, { ...WHOLE, period: { from_s: 4, to_s: 5 } });
  assert.equal(costs.peak, null);
  assert.equal(
    costs.allocated?.reduce((all, value) => all + value),
    700e3,
  );
  assert.equal(costsOf(of.data, of.tree.size, { ...WHOLE, process: 1, thread: 1 }).allocated, null);
});

test("the address says which part of the run is meant", () => {
  assert.deepEqual(parsePart("1.5-4", "2.7"), { period: { from_s: 1.5, to_s: 4 }, process: 2, thread: 7 });
  assert.deepEqual(parsePart("4-1", "x"), WHOLE);
  assert.equal(parsePeriod("a-b"), null);
});

test("lines of a part add up as the profile's lines of the whole do", () => {
  const whole = wholeLines(of.data);
  const parts = linesOf(of.data, of.tree, of.tree.whole);
  for (const line of parts.filter((one) => one.line !== 31)) {
    const told = whole.find((one) => one.file === line.file && one.line === line.line)!;
    assert.deepEqual(
      [line.file, line.line, cpuOf(line), line.wait ?? 0],
      [told.file, told.line, cpuOf(told), told.wait],
    );
  }
  assert.equal(parts.length, 6);
});

test("the most valuable finding comes first, each line once, in the summary's words", () => {
  const all = cards(of.data);
  assert.deepEqual(
    all.map((card) => card.what),
    ["Slice underutilization", "Memory leak", "Needless copies", "Slice underutilization"],
  );
  assert.equal(all[0].gainAbout.replaceAll("\u00a0", " "), "40 % of the run, 1.50 s looked up again");
  assert.match(all[0].sure, /3\.00 to 5\.00 s at 95 %; 79 ± 9.% redundant in 87 comparisons/);
  assert.match(all[1].tryThis!, /held by list .* of module __main__/);
  assert.equal(all[3].weight, "low");
});

test("figures of findings are rounded as on the terminal", () => {
  assert.equal(fraction(0.79, 0.7, 0.88).replace("\u00a0", " "), "79 ± 9 %");
  assert.equal(fraction(0.97, null, null).replace("\u00a0", " "), "97 %");
  assert.equal(fraction(null, 0, 1), "–");
  assert.equal(againWords({ again: null, kind: "store" }), "computed again");
  assert.equal(againWords({ again: "moved", kind: "store" }), "moved again");
});

test("two paths part where they first differ", () => {
  const [pair] = rows(of.data.pairs);
  assert.equal(trunkLength(pair.first_path!, pair.second_path!), 2);
  assert.equal(trunkLength([], pair.second_path!), 0);
});

test("tracks have each thread's time in its slices", () => {
  const all = tracks(of.data)!;
  assert.equal(all.slices, 10);
  assert.equal(total(all.byProcess.get(2)!, "python", all, null), 3);
  assert.equal(all.byThread.get(0)!.wait[2], 4);
  assert.equal(total(all.all, "python", all, null) + total(all.all, "native", all, null), 10);
  assert.equal(total(all.all, "native", all, { from_s: 4, to_s: 5 }), 3);
  assert.equal(tracks({ ...of.data, time: null }), null);
});

test("a line's curve is straight between its points", () => {
  const points = [
    { t_s: 0, live_bytes: 0 },
    { t_s: 4, live_bytes: 8 },
  ];
  assert.deepEqual(resampled([-1, 0, 1, 4, 9], points), [null, 0, 2, 8, 8]);
});

test("colours change no letter of the source, and see where a text begins within a string", () => {
  const lines = ["still the text of a string", '"""', "def f(a):", "    return 'x'"];
  const spans = highlight([3, 4, 5, 6], lines);
  assert.deepEqual(
    spans.map((line) => line.map((span) => span.text).join("")),
    lines,
  );
  assert.deepEqual(
    spans[2].filter((span) => span.text === "def").map((span) => span.cls),
    ["keyword"],
  );
  assert.deepEqual(spans[3].at(-1)?.cls, "string");
  assert.deepEqual(highlight([1, 9], ["x = '''", "y = 1"])[1][0].text, "y = ");
});

test("search finds files, functions and lines", () => {
  assert.deepEqual(
    hits(of, "main.py")
      .map((hit) => hit.kind)
      .slice(0, 1),
    ["file"],
  );
  assert.deepEqual(
    hits(of, "FIB").map((hit) => `${hit.kind} ${hit.about}`),
    ["function main.py", "line main.py:21"],
  );
  assert.deepEqual(hits(of, " "), []);
  assert.ok(hits(of, "onerror").every((hit) => !hit.text.includes("\u202e")) && HOSTILE.includes("\u202e"));
});
