// SPDX-License-Identifier: Apache-2.0
// Why threads waited: the causes in people's words, and by line of own code as the source has them.
import type { PageData, ThreadWait, Wait, WaitCause } from "../data";
import { rows } from "./profile";

interface Cause {
  /** In the words of the terminal (launcher/summary/summary_waits.c): "9.02 s for a lock". */
  words: string;
  /** A card's beginning. */
  title: string;
  tryThis: string;
}

const UNKNOWN: Cause = {
  words: "for an unknown reason",
  title: "Waits",
  tryThis: "Look at what this line calls",
};

const CAUSES: Record<string, Cause> = {
  gil: {
    words: "for the GIL",
    title: "Waits for the GIL",
    tryThis:
      "Run the work in processes (ProcessPoolExecutor), or in native code that releases the GIL: threads run Python code one at a time",
  },
  lock: {
    words: "for a lock",
    title: "Waits for a lock",
    tryThis:
      "Hold the lock for less: only what needs it, no I/O and no sleep; or give each thread data of its own",
  },
  socket: {
    words: "for a socket",
    title: "Waits for the network",
    tryThis:
      "Ask for several things at once (threads, asyncio), or for more in one request; keep connections open",
  },
  pipe: {
    words: "for a pipe",
    title: "Waits for a pipe",
    tryThis: "Look at the process at its other end; do other work meanwhile",
  },
  file: {
    words: "for a file",
    title: "Waits for a file",
    tryThis: "Read it in larger pieces, once, or in a thread while other work goes on",
  },
  terminal: {
    words: "for a terminal",
    title: "Waits for input",
    tryThis: "Somebody types here: nothing of the program is slow",
  },
  poll: {
    words: "for events",
    title: "Waits for events",
    tryThis: "The event loop is idle: look at what its tasks await",
  },
  sleep: {
    words: "asleep",
    title: "Sleeps",
    tryThis: "Wait for the event itself (Event.wait, a queue, select) instead of a time; or sleep for less",
  },
  child: {
    words: "for a child process",
    title: "Waits for a child process",
    tryThis: "Start several children at once, or do other work until it ends",
  },
  gpu: {
    words: "for a GPU",
    title: "Waits for a GPU",
    tryThis: "Give it more work at a time; copy results later (asynchronous copies)",
  },
  disk: {
    words: "for the disk",
    title: "Waits for the disk",
    tryThis: "Call fsync less often, for several records together",
  },
  signal: {
    words: "for a signal",
    title: "Waits for a signal",
    tryThis: "Nothing of the program is slow, unless the signal comes late",
  },
  other: {
    words: "in a system call",
    title: "Waits in a system call",
    tryThis: "Look at what this line asks of the kernel",
  },
};

export function causeOf(cause: string): Cause {
  return CAUSES[cause] ?? UNKNOWN;
}

/** Functions of Python that wait for the work of others, which is what to look at. */
const JOINS =
  /^(Thread\.(join|_wait_for_tstate_lock)|Future\.(result|exception)|as_completed|wait|Popen\.(wait|_wait|communicate)|Pool\..*|_shutdown|ThreadPoolExecutor\.shutdown|Executor\..*)$/;

/** Who waits for a condition, a queue or a result has no lock to hold for less: others have to work. */
const isResult = (row: Wait) => row.function === "Condition.wait" && row.holder_line === null;

export interface LineWaits {
  file: string;
  line: number;
  wait_s: number;
  /** By cause, the longest first. */
  causes: [string, number][];
  /** What was waited for longest. */
  most: Wait;
  /** Part in which the GIL was held. */
  held_s: number;
  /** It waits for what other threads or processes do: their end, or a result. */
  isJoin: boolean;
  function: string | null;
}

const keyOf = (file: string, line: number) => `${line} ${file}`;

function add(found: Map<string, LineWaits>, file: string, line: number, row: Wait, isOwn: boolean): void {
  const key = keyOf(file, line);
  const one = found.get(key) ?? {
    file,
    line,
    wait_s: 0,
    causes: [],
    most: row,
    held_s: 0,
    isJoin: row.library !== null && (JOINS.test(row.function ?? "") || isResult(row)),
    function: isOwn ? row.function : null,
  };
  found.set(key, one);
  one.wait_s += row.wait_s;
  one.held_s += row.holds_gil ? row.wait_s : 0;
  one.function ??= isOwn ? row.function : null;
  const cause = one.causes.find(([name]) => name === row.cause);
  if (cause) cause[1] += row.wait_s;
  else one.causes.push([row.cause, row.wait_s]);
}

/** Lines of own code with what they called in libraries; a library's line has its own. The rows come longest first. */
export function waitsByLine(data: PageData): Map<string, LineWaits> {
  const found = new Map<string, LineWaits>();
  for (const row of rows<Wait>(data.waits)) {
    if (row.file !== null && row.line !== null) add(found, row.file, row.line, row, row.library === null);
    if (row.library !== null && row.user_file !== null && row.user_line !== null)
      add(found, row.user_file, row.user_line, row, false);
  }
  for (const one of found.values()) one.causes.sort((a, b) => b[1] - a[1]);
  return found;
}

export function waitsAt(all: Map<string, LineWaits>, file: string, line: number): LineWaits | null {
  return all.get(keyOf(file, line)) ?? null;
}

/** Own lines, the longest first. */
export function ownWaits(data: PageData): LineWaits[] {
  const own = new Set(
    rows<Wait>(data.waits).map((row) =>
      row.library === null
        ? keyOf(row.file ?? "", row.line ?? 0)
        : keyOf(row.user_file ?? "", row.user_line ?? 0),
    ),
  );
  return [...waitsByLine(data)]
    .filter(([key]) => own.has(key))
    .map(([, one]) => one)
    .sort((a, b) => b.wait_s - a.wait_s);
}

/** As in storage/ask/hints.c: from here on waiting for known reasons is worth a look. */
const MATTERS_S = 0.2;
const MATTERS_PART = 0.1;

/** The causes of the run, the longest first; none where hardly anything was waited for a reason that is known. */
export function runCauses(data: PageData): WaitCause[] {
  const all = rows<WaitCause>(data.wait_causes);
  const known = all.reduce((sum, one) => sum + (one.cause === "unknown" ? 0 : one.wait_s), 0);
  const whole = (data.run.cpu_s ?? 0) + (data.run.wait_s ?? 0);
  return known >= MATTERS_S && known >= MATTERS_PART * whole ? all.filter((one) => one.wait_s > 0) : [];
}

/** What each thread waited for most, with its part: "lock 93 %". thread null: of the process. */
export function mostOf(data: PageData, process: number, thread: number | null): [string, number] | null {
  const sums = new Map<string, number>();
  let whole = 0;
  for (const row of rows<ThreadWait>(data.thread_waits)) {
    if (row.process !== process || (thread !== null && row.thread !== thread)) continue;
    sums.set(row.cause, (sums.get(row.cause) ?? 0) + row.wait_s);
    whole += row.wait_s;
  }
  const [most] = [...sums].sort((a, b) => b[1] - a[1]);
  return most && whole > 0 ? [most[0], most[1] / whole] : null;
}
