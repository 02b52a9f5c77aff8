// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { printable } from "../src/base/format";
import { resampled } from "../src/data/curves";
import { costsOf, type Part, parsePart, parsePeriod } from "../src/data/filter";
import type { PageData, Table } from "../src/data";
import { againWords, type Card, cards, fraction, UNDECIDED } from "../src/data/findings";
import { happened } from "../src/data/happened";
import { cpuOf, linesOf, wholeLines } from "../src/data/lines";
import { sum } from "../src/data/measures";
import { trunkLength } from "../src/data/paths";
import { Profile, rowCount, rows } from "../src/data/profile";
import { groupTrack, mostBySlice } from "../src/data/slice-waits";
import { tasks } from "../src/data/tasks";
import { total, tracks } from "../src/data/tracks";
import { mostOf, ownWaits, runCauses, waitsAt, waitsByLine } from "../src/data/waits";
import { highlight } from "../src/ui/highlight";
import { hits } from "../src/ui/search";
import { samplesText } from "../src/views/names";
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

test("causes of waiting by slice, in groups", () => {
  const all = tracks(of.data)!;
  const track = groupTrack(of.data, all)!;
  assert.equal(track.lock[2], 3);
  assert.equal(track.io[2], 1);
  assert.equal(
    track.lock.reduce((a, b) => a + b) + track.io.reduce((a, b) => a + b),
    all.all.wait.reduce((a, b) => a + b),
  );
  assert.deepEqual([...mostBySlice(of.data)], [[3, ["lock", 0.75]]]);
  const unknown = { ...of.data, slice_waits: { slice: [3], cause: ["unknown"], wait_s: [4] } };
  assert.equal(groupTrack(unknown, all), null);
  const outside = { ...of.data, slice_waits: { slice: [0, 11], cause: ["lock", "lock"], wait_s: [1, 1] } };
  assert.equal(groupTrack(outside, all), null);
});

test("the distance of samples is the one that they had", () => {
  const plain = (text: string) => text.replaceAll(/[\u00a0\u202f\u2009]/g, " ");
  assert.equal(
    plain(samplesText({ samples: 1000, cpu_s: 1.2, period_s: 0.001 })),
    "1 000, one each 1.00 ms of CPU time",
  );
  assert.equal(
    plain(samplesText({ samples: 1000, cpu_s: 1.6, period_s: 0.001 })),
    "1 000, one each 1.60 ms of CPU time (asked for: 1.00 ms)",
  );
  assert.equal(samplesText({ samples: 7, cpu_s: 1, period_s: null }), "7");
});

test("what happened in a slice", () => {
  const data = structuredClone(of.data);
  const at = (s: number) => new Date(Date.parse(data.run.started) + 1000 * s).toISOString();
  data.processes.started = [at(0), at(4.5)];
  data.threads.started = [at(0), at(2.1), at(4.5)];
  data.threads.name = ["main", "loader", "main"];
  data.memory_timeline = {
    process: [1, 1, 1],
    t_s: [0.5, 1.2, 5],
    python_bytes: [10e3, 20e3, 200e3],
    native_bytes: [0, 0, 60e3],
    rss_bytes: [null, null, null],
    file: [null, null, null],
    line: [null, null, null],
  };
  const found = happened(data, tracks(data)!);
  assert.deepEqual(Object.fromEntries(found), {
    3: "loader began",
    5: `process ${data.processes.pid[1]} began`,
    6: "heap +240\u00a0kB; peak of memory: 260\u00a0kB",
  });
  data.threads.started = [at(0), at(2.1), "no time"];
  data.heap.peak_bytes = [null];
  assert.deepEqual(Object.fromEntries(happened(data, tracks(data)!))[3], "loader began");
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
    [
      "Slice underutilization",
      "Waits for a lock",
      "Memory leak",
      "Needless copies",
      "Slice underutilization",
    ],
  );
  assert.equal(all[0].gainAbout.replaceAll("\u00a0", " "), "40 % of the run, 1.50 s looked up again");
  assert.match(all[0].sure, /3\.00 to 5\.00 s at 95 %; 79 ± 9.% redundant in 87 comparisons/);
  assert.match(all[2].tryThis!, /held by list .* of module __main__/);
  assert.equal(all[4].weight, "maybe", "it may waste more than a tenth of the run");
});

test("a hint is a card with its text, the holder of the lock and what to try", () => {
  const card = cards(of.data)[1];
  assert.deepEqual(
    [card.file, card.line, card.inside, card.gain],
    ["/app/main.py", 12, "in work", "4.00\u00a0s"],
  );
  assert.ok(
    card.sure.startsWith(of.data.hints.text[0]) && card.sure.endsWith("held at main.py:21 meanwhile"),
  );
  assert.match(card.tryThis!, /^Hold the lock for less/);
});

/** The cards of a profile in which nothing but this is found. */
function only(change: Partial<PageData>): Card[] {
  const none = (one: object) => Object.fromEntries(Object.keys(one).map((name) => [name, []]));
  const { findings, leaks, needless_copies, hints, waits, wait_causes } = of.data;
  const bare = { findings, leaks, needless_copies, hints, waits, wait_causes };
  const empty = Object.fromEntries(Object.entries(bare).map(([name, one]) => [name, none(one)]));
  return cards({ ...of.data, ...empty, ...change } as PageData);
}

const columns = <Row>(row: Row) =>
  Object.fromEntries(
    Object.entries(row as object).map(([name, value]) => [name, [value]]),
  ) as unknown as Table<Row>;
const wait = {
  ...rows(of.data.waits)[0],
  holder_file: "/app/main.py",
  holder_line: 21,
  holder_function: "fib",
};

test("where nothing is sure, the costliest line is what to look at, by what it does", () => {
  const [card, ...others] = only({});
  assert.deepEqual([card.what, card.line, card.weight, others.length], ["Costliest line", 12, "maybe", 0]);
  assert.equal(
    card.sure.replaceAll("\u00a0", " "),
    "5.50 s of 10.00 s CPU: Python 27 %, native 73 %, system 0 %",
  );
  assert.match(card.tryThis!, /^Call Fast-Lib less often/);
});

test("a line of weight of which nothing is decided is named in the summary's words, with what decides", () => {
  const line = {
    file: "/app/main.py",
    line: 12,
    share: 0.55,
    known: "and 3 comparisons do not tell whether all of it is needed",
    what_to_do: "if none comes again, look at the line's own algorithm",
    count_finding: 1,
  };
  const low = { ...rows(of.data.findings)[2], rank: 1, line: 12, category: "undecided" };
  const plain = (text: string) => text.replaceAll("\u00a0", " ");
  const [card, ...others] = only({ undecided_lines: columns(line), findings: columns(low) });
  assert.deepEqual(
    [card.what, card.line, card.weight, card.finding, others.length],
    [UNDECIDED, 12, "maybe", 0, 0],
  );
  assert.equal(plain(card.sure), `Takes 55 % of the run, ${line.known}`);
  assert.equal(
    plain(card.tryThis!),
    `Count its calls with “pieprof confirm ${of.data.page.profile} --finding 1”; ${line.what_to_do}`,
  );
  const counted = { ...line, count_finding: null, what_to_do: "pieprof sees only work that is done again" };
  const [alone, costliest] = only({ undecided_lines: columns({ ...counted, line: 21 }) });
  assert.equal(alone.tryThis, "pieprof sees only work that is done again");
  assert.deepEqual([alone.what, costliest.what], [UNDECIDED, "Costliest line"]);
  const may = {
    ...low,
    category: "API misuse",
    evidence: "",
    wasted_s: 2,
    wasted_share: 0.2,
    wasted_s_high: 3,
  };
  const told = only({ undecided_lines: columns(line), findings: columns(may) });
  assert.ok(
    told.every((one) => one.what !== UNDECIDED),
    "a finding says more of it",
  );
});

test("what is about the machine comes after what is about a line", () => {
  const hint = { kind: "processors", share: 0.9, text: "too few processors: …", file: null, line: null };
  assert.deepEqual(
    only({ hints: columns(hint) }).map((card) => card.what),
    ["Costliest line", "Too few processors"],
  );
  const alone = only({ hints: columns(hint), run: { ...of.data.run, threads: 1 } })[1];
  assert.match(alone.tryThis!, /^Other programs had the processor/);
});

test("threads that want the GIL are told who held it, and a call that waits with it", () => {
  const gil = { ...wait, cause: "gil", wait_s: 2 };
  const sums = { cause: "gil", wait_s: 2, wait_share: 1, held_s: 0 };
  const [card] = only({ waits: columns(gil), wait_causes: columns(sums) });
  assert.deepEqual([card.what, card.line], ["Threads want the GIL at the same time", 21]);
  assert.match(card.tryThis!, /processes/);
  const asleep = { ...wait, cause: "sleep", line: 21, wait_s: 2, holds_gil: 1, holder_file: null };
  const both = Object.fromEntries(
    Object.keys(gil).map((name) => [
      name,
      [gil, asleep].map((row) => (row as Record<string, unknown>)[name]),
    ]),
  ) as unknown as PageData["waits"];
  assert.equal(only({ waits: both, wait_causes: columns(sums) })[0].what, "Waits and keeps the GIL");
});

test("waiting for threads to end is nothing to change, and a lock is, from a tenth of the time on", () => {
  const join = {
    ...wait,
    function: "Thread._wait_for_tstate_lock",
    library: "python",
    user_file: "/app/main.py",
    user_line: 12,
  };
  const [hint] = rows(of.data.hints);
  const [first, second] = only({ waits: columns({ ...join, wait_s: 4 }), hints: columns(hint) });
  assert.deepEqual([first.what, second.what], ["Costliest line", "Waits for other threads or processes"]);
  assert.deepEqual(
    only({ waits: columns({ ...wait, wait_s: 1.3 }) }).map((card) => card.what),
    ["Costliest line"],
  );
  assert.equal(only({ waits: columns({ ...wait, wait_s: 1.5 }) })[0].what, "Waits for a lock");
});

test("what most of a large peak was allocated at is a card, and what copies much", () => {
  const heap = columns({ ...rows(of.data.heap)[0], peak_bytes: 60e6 });
  const { lines } = of.data.source;
  const at = lines.line.indexOf(12);
  const put = (name: "peak_bytes" | "copied_bytes", value: number) => ({
    source: {
      ...of.data.source,
      lines: { ...lines, [name]: lines[name].map((old, i) => (i === at ? value : old)) },
    },
  });
  assert.deepEqual(
    only({ heap, ...put("peak_bytes", 29e6) }).map((card) => card.what),
    ["Costliest line"],
  );
  assert.equal(only({ heap, ...put("peak_bytes", 31e6) })[1].what, "Most memory at the peak");
  assert.equal(only(put("copied_bytes", 2.7e9))[0].what, "Costliest line");
  assert.deepEqual(
    [only(put("copied_bytes", 2.8e9))[0].what, only(put("copied_bytes", 2.8e9))[0].line],
    ["Copies much data", 12],
  );
});

test("an own line waits for all that it called waits for, a library's line for its own", () => {
  const all = waitsByLine(of.data);
  assert.deepEqual(waitsAt(all, "/app/main.py", 12)?.causes, [
    ["lock", 3],
    ["socket", 1],
  ]);
  assert.deepEqual(waitsAt(all, "/lib/fastlib/core.py", 6)?.causes, [["socket", 1]]);
  assert.deepEqual(
    ownWaits(of.data).map((one) => [one.line, one.wait_s]),
    [[12, 4]],
  );
  assert.deepEqual(mostOf(of.data, 1, 1), ["lock", 0.75]);
  assert.deepEqual([mostOf(of.data, 1, 2), mostOf(of.data, 2, null)], [null, null]);
});

test("causes are told where waiting for a known reason matters", () => {
  const sum = (cause: string, wait_s: number) =>
    runCauses({ ...of.data, wait_causes: columns({ cause, wait_s, wait_share: 1, held_s: 0 }) }).length;
  assert.deepEqual([sum("lock", 1.5), sum("lock", 1.3), sum("unknown", 4)], [1, 0, 0]);
});

test("tasks have their steps below the loop and their waits on paths of their own", () => {
  const NAMES = ["<module>", "Handle._run", "brief", "sleep", "burn", "Thread._bootstrap"];
  const FILES = [
    "/app/main.py",
    "/lib/asyncio/events.py",
    "/app/main.py",
    "/lib/asyncio/tasks.py",
    "/app/main.py",
    "/lib/threading.py",
  ];
  const strings = [...NAMES, ...FILES];
  // 1 <module> > 2 Handle._run > 3 brief > 4 burn; 5 brief > 6 sleep; 7 a thread that only waits
  const parent = [0, 0, 1, 2, 3, 0, 5, 0];
  const fn = [null, 0, 1, 2, 4, 2, 3, 5];
  const number = (values: Record<number, number>) => parent.map((_, node) => (values[node] ?? 0) * 1e9);
  const profile = new Profile({
    ...made(),
    strings,
    tasks: {
      rank: [1, 2, 3, 4, 5],
      task: ["one", HOSTILE, null, "one", "of another"],
      coroutine: ["brief", "brief", "brief", "brief", "other"],
      file: Array(5).fill("/app/main.py"),
      line: [1, 1, 1, 2, 1],
      function: ["brief", "brief", "brief", "brief", "other"],
      cause: ["sleep", "sleep", "sleep", "lock", "sleep"],
      wait_s: [1, 0.75, 0.5, 0.5, 0.25],
      wait_share: [0.33, 0.25, 0.17, 0.17, 0.08],
      coroutine_file: Array(5).fill("/app/main.py"),
      coroutine_line: [1, 1, 1, 1, 1],
      cpu_s: [0, 0, 0, 0.25, 0],
      cpu_share: [0, 0, 0, 1, 0],
    },
    tree: {
      functions: {
        name: NAMES.map((_, i) => i),
        file: FILES.map((_, i) => NAMES.length + i),
        library: NAMES.map(() => null),
        module: NAMES.map(() => null),
        kind: NAMES.map(() => 1),
        first_line: NAMES.map(() => 1),
      },
      frames: { function: NAMES.map((_, i) => i), line: NAMES.map(() => 1) },
      nodes: {
        ...of.data.tree.nodes,
        parent,
        frame: fn,
        hidden: parent.map(() => 0),
        python_ns: number({ 1: 1, 4: 2 }),
        native_ns: null,
        wait_ns: number({ 6: 3, 7: 9 }),
      },
    },
  });
  const all = profile.tree;
  const found = tasks(all, all.whole, profile.data);
  assert.deepEqual(
    found.map((task) => [all.name(task.fn), task.python, task.wait]),
    [["brief", 2, 2.75]],
  );
  assert.deepEqual(found[0]?.names, [
    { name: "one", cpu_s: 0.25, wait_s: 1.5 },
    { name: printable(HOSTILE), cpu_s: 0, wait_s: 0.75 },
  ]);
  assert.deepEqual(tasks(of.tree, of.tree.whole, of.data), []);
  // A native loop has no Handle._run
  const native = { ...profile.data.tree.nodes, frame: [null, 0, 0, 2, 4, 2, 3, 5] };
  const other = new Profile({ ...profile.data, tree: { ...profile.data.tree, nodes: native } });
  assert.deepEqual(
    tasks(other.tree, other.tree.whole, other.data).map((task) => [
      other.tree.name(task.fn),
      task.python,
      task.wait,
    ]),
    [["brief", 2, 2.75]],
  );
});

test("figures of findings are rounded as on the terminal", () => {
  assert.equal(fraction(0.79, 0.7, 0.88).replace("\u00a0", " "), "79 ± 9 %");
  assert.equal(fraction(0.97, null, null).replace("\u00a0", " "), "97 %");
  assert.equal(fraction(null, 0, 1), "–");
  assert.equal(againWords({ again: null, kind: "store" }), "computed again");
  assert.equal(againWords({ again: "multiplied by zero", kind: "load" }), "multiplied by zero");
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

test("waiting for a result is no lock to hold for less, and a hint does not repeat its card's title", () => {
  const result = {
    ...wait,
    function: "Condition.wait",
    library: "python",
    user_file: "/app/main.py",
    user_line: 12,
    holder_file: null,
    holder_line: null,
    wait_s: 4,
  };
  const [hint] = rows(of.data.hints);
  const [, second] = only({ waits: columns(result), hints: columns(hint) });
  assert.deepEqual([second.what, second.weight], ["Waits for other threads or processes", "low"]);
  const machine = {
    kind: "processors",
    share: 0.9,
    text: "too few processors: threads …",
    file: null,
    line: null,
  };
  assert.equal(only({ hints: columns(machine) })[1].sure, "threads …");
});
