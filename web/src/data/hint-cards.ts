// SPDX-License-Identifier: Apache-2.0
// Cards of what the figures of a run say plainly: what it waited for, its collections of garbage, its imports, what was
// live at the peak, its costliest line. Their figures are those of the hints in the summary on the terminal.
import { baseName, bytes, clock, seconds, share } from "../base/format";
import type { Heap, Hint, Line, PageData, Wait } from "../data";
import { type Card, NEEDLESS, samePlace, UNDECIDED } from "./findings";
import { cpuOf, type LineCosts, wholeLines } from "./lines";
import { rows } from "./profile";
import { causeOf, ownWaits, waitsAt, waitsByLine } from "./waits";

const NO_CARD: Card = {
  weight: "high",
  what: "",
  file: null,
  line: null,
  inside: null,
  sure: "",
  tryThis: null,
  gain: "",
  gainAbout: "",
  part: 0,
  verdict: null,
  evidence: null,
  finding: null,
};

/** A hint's text begins with what the card says already. */
function withoutTitle(text: string, what: string): string {
  const beginning = `${what}: `.toLowerCase();
  return text.toLowerCase().startsWith(beginning) ? text.slice(beginning.length) : text;
}

const place = (file: string, line: number | null) => `${baseName(file)}:${line}`;

/** "; held at app.py:30 meanwhile" */
function holderOf(row: Wait): string {
  return row.holder_file ? `; held at ${place(row.holder_file, row.holder_line)} meanwhile` : "";
}

const KEEPS_GIL = "Waits and keeps the GIL";
const RELEASE = "Use a call that releases the GIL while it waits, or run it in a process of its own";

function waitCard(data: PageData, hint: Hint): Card {
  const at = hint.file && hint.line ? waitsAt(waitsByLine(data), hint.file, hint.line) : null;
  const cause = causeOf(at?.causes[0][0] ?? data.wait_causes.cause[0] ?? "unknown");
  const card = {
    ...NO_CARD,
    file: hint.file,
    line: hint.line,
    sure: hint.text,
    part: hint.share ?? 0,
    gain: at ? seconds(at.wait_s) : share(hint.share, 0),
    gainAbout: at
      ? `waited here; the main thread waits ${share(hint.share, 0)} of its time`
      : "of the main thread's time",
  };
  const mostly = "Mostly waiting";
  if (!at) return { ...card, what: mostly, tryThis: cause.tryThis, sure: withoutTitle(hint.text, mostly) };
  const inside = at.function ? `in ${at.function}` : null;
  if (at.isJoin)
    return {
      ...card,
      inside,
      weight: "low",
      what: "Waits for other threads or processes",
      tryThis: "Look at what they do meanwhile: Time and Processes show them",
    };
  if (at.held_s >= at.wait_s / 2) return { ...card, inside, what: KEEPS_GIL, tryThis: RELEASE };
  return {
    ...card,
    inside,
    what: cause.title,
    tryThis: cause.tryThis,
    sure: `${hint.text}${holderOf(at.most)}`,
  };
}

/** What, what to try, and of what the hint's share is. */
const ABOUT: Record<string, [string, string, string]> = {
  "input bound": [
    "Waits for its input",
    "Load the next batch meanwhile: more workers (num_workers), prefetching, less work for each item",
    "of the main thread's time",
  ],
  throttled: [
    "Stopped by a CPU quota",
    "Raise the quota of the container, or run fewer threads and processes at a time",
    "of the threads' time",
  ],
  processors: [
    "Too few processors",
    "Run as many threads and processes as there are processors, or give the program more of them",
    "of the threads' time",
  ],
  imports: [
    "Slow imports",
    "Import what is seldom needed where it is used; the question “imports” lists them",
    "of the CPU time",
  ],
  "garbage collection": [
    "Garbage collection",
    "Call gc.freeze() after loading, or raise gc.set_threshold(); keep fewer containers: slots, tuples, arrays",
    "of the CPU time",
  ],
};

/** A program of one thread cannot have too many. */
const ALONE = "Other programs had the processor: run this one alone, or give it more processors";

/** What is about the machine comes after what is about the program. */
const OUTSIDE = ["processors", "throttled"];

function hintCard(data: PageData, hint: Hint): Card {
  if (hint.kind === "waiting") return waitCard(data, hint);
  const [what, tryThis, gainAbout] = ABOUT[hint.kind] ?? [hint.kind, null, ""];
  return {
    ...NO_CARD,
    weight: OUTSIDE.includes(hint.kind) ? "machine" : "high",
    what,
    tryThis: hint.kind === "processors" && data.run.threads < 2 ? ALONE : tryThis,
    gainAbout,
    file: hint.file,
    line: hint.line,
    sure: withoutTitle(hint.text, what),
    gain: share(hint.share, 0),
    part: hint.share ?? 0,
  };
}

/** From so much of the time of all threads on, and from so many seconds on, waiting for each other has a card. */
const CONTENTION_PART = 0.1;
const CONTENTION_S = 0.2;

function busyTime(data: PageData): number {
  return (data.run.cpu_s ?? 0) + (data.run.wait_s ?? 0);
}

/** Waits for a lock that another thread held at a known line, the longest. */
function lockCard(data: PageData): Card[] {
  const held = ownWaits(data).find(
    (one) => !one.isJoin && one.causes[0][0] === "lock" && one.most.holder_line !== null,
  );
  const part = held ? held.wait_s / busyTime(data) : 0;
  if (!held || held.wait_s < CONTENTION_S || part < CONTENTION_PART) return [];
  const cause = causeOf("lock");
  return [
    {
      ...NO_CARD,
      what: cause.title,
      file: held.file,
      line: held.line,
      inside: held.function ? `in ${held.function}` : null,
      sure: `Threads waited here for ${seconds(held.wait_s)}${holderOf(held.most)}`,
      tryThis: cause.tryThis,
      gain: seconds(held.wait_s),
      gainAbout: `waiting: ${share(part, 0)} of the threads' time`,
      part,
    },
  ];
}

interface Blame {
  file: string;
  line: number;
  function: string | null;
  wait_s: number;
}

/** Where the GIL was held while others wanted it, the longest. */
function blamed(data: PageData): Blame | null {
  const found = new Map<string, Blame>();
  for (const row of rows<Wait>(data.waits)) {
    if (row.cause !== "gil" || row.holder_file === null || row.holder_line === null) continue;
    const key = `${row.holder_line} ${row.holder_file}`;
    const one = found.get(key) ?? {
      file: row.holder_file,
      line: row.holder_line,
      function: row.holder_function,
      wait_s: 0,
    };
    one.wait_s += row.wait_s;
    found.set(key, one);
  }
  return [...found.values()].sort((a, b) => b.wait_s - a.wait_s)[0] ?? null;
}

function gilCard(data: PageData): Card[] {
  const gil_s = data.wait_causes.wait_s[data.wait_causes.cause.indexOf("gil")] ?? 0;
  const worst = blamed(data);
  const part = gil_s / ((data.run.cpu_s ?? 0) + gil_s);
  if (!worst || gil_s < CONTENTION_S || part < CONTENTION_PART) return [];
  const at = waitsAt(waitsByLine(data), worst.file, worst.line);
  const waitsWithIt = at !== null && at.held_s >= worst.wait_s / 2;
  return [
    {
      ...NO_CARD,
      what: waitsWithIt ? KEEPS_GIL : "Threads want the GIL at the same time",
      file: worst.file,
      line: worst.line,
      inside: worst.function ? `in ${worst.function}` : null,
      sure: `Threads waited ${seconds(gil_s)} for the GIL; ${seconds(worst.wait_s)} of it was held at this line`,
      tryThis: waitsWithIt ? RELEASE : causeOf("gil").tryThis,
      gain: seconds(gil_s),
      gainAbout: `for the GIL: ${share(part, 0)} of the threads' work`,
      part,
    },
  ];
}

/** From so much memory on, and from such a part of it at one line on. */
const PEAK_BYTES = 50e6;
const PEAK_PART = 0.5;

function ownLines(data: PageData): LineCosts[] {
  return wholeLines(data).filter((line) => data.source.files.library[line.file] === null);
}

function pathOf(data: PageData, line: LineCosts): string {
  return data.strings[data.source.files.path[line.file]];
}

function peakCard(data: PageData): Card[] {
  const [heap] = rows<Heap>(data.heap).sort((a, b) => (b.peak_bytes ?? 0) - (a.peak_bytes ?? 0));
  const [most] = ownLines(data).sort((a, b) => (b.peak ?? 0) - (a.peak ?? 0));
  const peak = heap?.peak_bytes ?? 0;
  const part = most?.peak && peak > 0 ? most.peak / peak : 0;
  if (peak < PEAK_BYTES || part < PEAK_PART) return [];
  const at = heap.peak_t_s === null ? "" : ` at ${clock(heap.peak_t_s)}`;
  return [
    {
      ...NO_CARD,
      weight: "maybe",
      what: "Most memory at the peak",
      file: pathOf(data, most),
      line: most.line,
      sure: `${bytes(most.peak)} of the peak of ${bytes(peak)}${at} were allocated here`,
      tryThis:
        "Work in pieces (a generator, chunks of a file), use smaller types, or free it before the next step",
      gain: bytes(most.peak),
      gainAbout: `${share(part, 0)} of the peak`,
      part,
    },
  ];
}

/** Bytes for each second of the line's CPU time: a processor copies about 10 GB in a second, and new memory takes longer. */
const COPY_RATE = 5e8;
const COPY_PART = 0.1;

/** The line of own code that copies most. */
function copyCard(data: PageData): Card[] {
  const lines = ownLines(data);
  const all = lines.reduce((sum, line) => sum + (line.copied ?? 0), 0);
  const [most] = lines.sort((a, b) => (b.copied ?? 0) - (a.copied ?? 0));
  const copied = most?.copied ?? 0;
  const part = most && data.run.cpu_s ? cpuOf(most) / data.run.cpu_s : 0;
  if (part < HOT_PART || copied < COPY_RATE * cpuOf(most) || copied < COPY_PART * all) return [];
  return [
    {
      ...NO_CARD,
      what: "Copies much data",
      file: pathOf(data, most),
      line: most.line,
      sure: `${bytes(copied)}, ${share(copied / all, 0)} of all that is copied; the line took ${seconds(cpuOf(most))} CPU`,
      tryThis:
        "Put pieces into a list or a bytearray and join them once; take views (memoryview, slices of arrays) where nothing is written",
      gain: bytes(copied),
      gainAbout: `copied; ${share(part, 0)} of the CPU time is this line's`,
      part,
    },
  ];
}

/** From such a part of the CPU time on, one line is what to look at. */
const HOT_PART = 0.2;

function tryOf(line: Pick<LineCosts, "python" | "native" | "system" | "library">): string {
  const cpu = (line.python ?? 0) + (line.native ?? 0) + (line.system ?? 0);
  if ((line.system ?? 0) >= cpu / 2)
    return "Ask the kernel less often: larger reads and writes, buffers, fewer files";
  if ((line.native ?? 0) >= cpu / 2)
    return `Call ${line.library ?? "native code"} less often, with less data, or another function of it; keep results that come again`;
  return "Do this less often (a better algorithm, kept results), or run the loop in native code: numpy, a compiled module";
}

const partsOf = (
  cost: { python: number | null; native: number | null; system: number | null },
  cpu: number,
) =>
  `Python ${share((cost.python ?? 0) / cpu, 0)}, native ${share((cost.native ?? 0) / cpu, 0)}, system ${share((cost.system ?? 0) / cpu, 0)}`;

/** A function of own code, where no line of it weighs as much. */
function hotFunction(data: PageData): Card[] {
  const hot = rows<Line>(data.functions).find((one) => one.library === null && one.file !== null);
  const part = hot?.cpu_share ?? 0;
  if (!hot || part < HOT_PART) return [];
  const cost = { python: hot.python_s, native: hot.native_s, system: hot.system_s };
  return [
    hotCard("Costliest function", {
      file: hot.file,
      line: hot.line,
      inside: hot.function,
      sure: `${seconds(hot.cpu_s)} of ${seconds(data.run.cpu_s)} CPU: ${partsOf(cost, hot.cpu_s ?? 1)}`,
      tryThis: tryOf({ ...cost, library: null }),
      part,
    }),
  ];
}

function hotCard(what: string, about: Partial<Card> & { part: number }): Card {
  return {
    ...NO_CARD,
    weight: "maybe",
    what,
    gain: share(about.part, 0),
    gainAbout: "of the CPU time; it is not known that any of it is needless",
    ...about,
  };
}

/** The costliest line of own code. */
function hotLine(data: PageData): Card[] {
  const [hot] = ownLines(data).sort((a, b) => cpuOf(b) - cpuOf(a));
  const part = hot && data.run.cpu_s ? cpuOf(hot) / data.run.cpu_s : 0;
  if (part < HOT_PART) return hotFunction(data);
  const cpu = cpuOf(hot);
  return [
    hotCard("Costliest line", {
      file: pathOf(data, hot),
      line: hot.line,
      sure: `${seconds(cpu)} of ${seconds(data.run.cpu_s)} CPU: ${partsOf(hot, cpu)}`,
      tryThis: tryOf(hot),
      part,
    }),
  ];
}

/** Cards beside those of the findings. A line has only one about waiting. */
export function hintCards(data: PageData, found: readonly Card[]): Card[] {
  const hints = rows<Hint>(data.hints).map((hint) => hintCard(data, hint));
  const isNew = (card: Card) => !hints.some((one) => one.weight !== "low" && samePlace(one, card));
  const isUnexplained = (card: Card) =>
    !found.some((one) => one.weight === "high" && (one.what === NEEDLESS || samePlace(one, card)));
  const more = [
    ...hints,
    ...[...lockCard(data), ...gilCard(data)].filter(isNew),
    ...peakCard(data),
    ...copyCard(data).filter(isUnexplained),
  ];
  const isToldOf = (card: Card) => found.some((one) => one.what === UNDECIDED && samePlace(one, card));
  const hot = hotLine(data).filter((card) => !isToldOf(card));
  return [...found, ...more].some((card) => card.weight === "high") ? more : [...more, ...hot];
}
