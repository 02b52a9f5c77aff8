// SPDX-License-Identifier: Apache-2.0
// A profile that was made up, so all of its figures are known: two processes, three threads, a recursive function, a
// library, a finding, a leak, a traced loop, and names that try to break out of the page.
import type { PageData, Table } from "../src/data";

// biome-ignore lint/suspicious/noTemplateCurlyInString: it must not be taken for a template anywhere
export const HOSTILE = '</script><img src=x onerror="document.title=1">\u202e"&amp;`${1}';
const NS = 1e9;

type Row = Record<string, unknown>;

function table<T>(names: string, ...rows: Row[]): Table<T> {
  return Object.fromEntries(
    names.split(" ").map((name) => [name, rows.map((row) => row[name] ?? null)]),
  ) as unknown as Table<T>;
}

const COST = "cpu_s python_s native_s system_s wait_s runnable_s throttled_s cpu_share samples";
const PLACE = "file line function";
const TASK = `rank task coroutine ${PLACE} cause wait_s wait_share coroutine_file coroutine_line cpu_s cpu_share`;
const OWNER = "library user_file user_line";

class Strings {
  readonly all: string[] = [];
  of(text: string | null): number | null {
    if (text === null) return null;
    const found = this.all.indexOf(text);
    return found >= 0 ? found : this.all.push(text) - 1;
  }
}

/** name, file, library, is native, first line */
const FUNCTIONS: [string | null, string | null, string | null, boolean, number | null][] = [
  ["<module>", "/app/main.py", null, false, 1],
  ["work", "/app/main.py", null, false, 10],
  ["fib", "/app/main.py", null, false, 20],
  ["helper", "/lib/fastlib/core.py", "Fast-Lib", false, 5],
  ["fast_add", null, "Fast-Lib", true, null],
  [null, null, "Fast-Lib", true, null],
  [HOSTILE, `/app/${HOSTILE}.py`, null, false, 1],
];

/** Frames: function, line. Frame 0 is what was cut. */
const FRAMES: [number | null, number | null][] = [
  [null, null],
  [0, 30], // 1: main.py:30
  [1, 12], // 2: work, main.py:12
  [2, 21], // 3: fib
  [3, 6], // 4: helper, core.py:6
  [4, null], // 5: fast_add
  [5, null], // 6: no name
  [6, 3], // 7: hostile
  [0, 31], // 8: main.py:31
];

export interface MadeNode {
  parent: number;
  frame: number | null;
  python: number;
  native: number;
  wait: number;
  allocated: number;
  peak: number;
}

/** CPU time: 10 s; waiting: 4 s; 1000 kB allocated. */
export const NODES: MadeNode[] = [
  { parent: 0, frame: null, python: 0, native: 0, wait: 0, allocated: 0, peak: 0 },
  { parent: 0, frame: 1, python: 0.5, native: 0, wait: 0, allocated: 0, peak: 0 }, // 1 module:30
  { parent: 1, frame: 2, python: 1, native: 0, wait: 4, allocated: 100e3, peak: 50e3 }, // 2 work
  { parent: 2, frame: 4, python: 0.5, native: 0, wait: 0, allocated: 0, peak: 0 }, // 3 helper
  { parent: 3, frame: 5, python: 0, native: 3, wait: 0, allocated: 700e3, peak: 200e3 }, // 4 fast_add
  { parent: 4, frame: 6, python: 0, native: 1, wait: 0, allocated: 0, peak: 0 }, // 5 (no symbol)
  { parent: 0, frame: 8, python: 0, native: 0, wait: 0, allocated: 0, peak: 0 }, // 6 module:31
  { parent: 6, frame: 3, python: 1, native: 0, wait: 0, allocated: 0, peak: 0 }, // 7 fib
  { parent: 7, frame: 3, python: 2, native: 0, wait: 0, allocated: 200e3, peak: 0 }, // 8 fib in fib
  { parent: 6, frame: 7, python: 0.75, native: 0, wait: 0, allocated: 0, peak: 0 }, // 9 hostile
  { parent: 6, frame: 0, python: 0.25, native: 0, wait: 0, allocated: 0, peak: 0 }, // 10 cut
];

/** Also so many frames more, as a chain of own functions below node 1, without costs but for one sample each. */
function padded(extra: number): MadeNode[] {
  const nodes = NODES.map((node) => ({ ...node }));
  for (let i = 0; i < extra; i++) {
    const parent = i % 40 === 0 ? 1 : nodes.length - 1;
    nodes.push({ parent, frame: 1 + (i % 8), python: 1e-6, native: 0, wait: 0, allocated: 0, peak: 0 });
  }
  return nodes;
}

function treeOf(strings: Strings, nodes: MadeNode[]): PageData["tree"] {
  const none = nodes.map(() => 0);
  return {
    functions: {
      name: FUNCTIONS.map(([name]) => strings.of(name)),
      file: FUNCTIONS.map(([, file]) => strings.of(file)),
      library: FUNCTIONS.map(([, , library]) => strings.of(library)),
      module: FUNCTIONS.map(([, , , native]) => (native ? strings.of("/lib/fastlib/fast.so") : null)),
      kind: FUNCTIONS.map(([, , , native]) => (native ? 2 : 1)),
      first_line: FUNCTIONS.map(([, , , , line]) => line),
    },
    frames: { function: FRAMES.map(([fn]) => fn), line: FRAMES.map(([, line]) => line) },
    nodes: {
      parent: nodes.map((node) => node.parent),
      frame: nodes.map((node) => node.frame),
      hidden: nodes.map((node) => (node.frame === 0 ? 12 : 0)),
      python_ns: nodes.map((node) => node.python * NS),
      native_ns: nodes.map((node) => node.native * NS),
      system_ns: null,
      wait_ns: nodes.map((node) => node.wait * NS),
      runnable_ns: null,
      throttled_ns: null,
      samples: none,
      allocated_bytes: nodes.map((node) => node.allocated),
      peak_bytes: nodes.map((node) => node.peak),
      live_bytes: null,
      copied_bytes: null,
      wasted_ns: nodes.map((node, i) =>
        i >= 2 && i <= 5 ? (4 / 5.5) * (node.python + node.native) * NS : 0,
      ),
    },
  };
}

/** Slices 1 to 10; a node's costs lie in slice 1 + (node mod 10). The second process has fib. */
function timeOf(nodes: MadeNode[]): PageData["time"] {
  const cells = nodes.flatMap((node, i) => {
    const process = i === 7 || i === 8 ? 2 : 1;
    const at = { slice: 1 + (i % 10), process, node: i };
    const time = {
      ...at,
      thread: process === 2 ? 2 : i === 9 ? 1 : 0,
      python: node.python,
      native: node.native,
    };
    const out = node.python + node.native + node.wait > 0 ? [{ ...time, wait: node.wait, allocated: 0 }] : [];
    const bytes = { ...at, thread: -1, python: 0, native: 0, wait: 0, allocated: node.allocated };
    return node.allocated > 0 ? [...out, bytes] : out;
  });
  return {
    width_s: 1,
    first_t_s: 0,
    nodes: nodes.length,
    cells: {
      slice: cells.map((cell) => cell.slice),
      thread: cells.map((cell) => cell.thread),
      process: cells.map((cell) => cell.process),
      node: cells.map((cell) => cell.node),
      python_ns: cells.map((cell) => cell.python * NS),
      native_ns: cells.map((cell) => cell.native * NS),
      system_ns: null,
      wait_ns: cells.map((cell) => cell.wait * NS),
      runnable_ns: null,
      throttled_ns: null,
      samples: null,
      allocated_bytes: cells.map((cell) => cell.allocated),
      copied_bytes: null,
    },
  };
}

const MAIN_TEXT = [
  "import fastlib",
  "",
  "def work(n):",
  '    """Adds up.',
  '    In a slow way."""',
  "    while n > 0:",
  "        total = fastlib.add(total, n)  # one by one",
  "    return total",
];

function sourceOf(strings: Strings): PageData["source"] {
  const line = (file: number, number: number, row: Row) => ({ file, line: number, ...row });
  const fast = strings.of("Fast-Lib");
  return {
    files: table(
      "path library cpu_s wait_s allocated_bytes",
      { path: strings.of("/app/main.py"), cpu_s: 9, wait_s: 4, allocated_bytes: 1000e3 },
      { path: strings.of(`/app/${HOSTILE}.py`), cpu_s: 0.75, wait_s: 0, allocated_bytes: 0 },
      {
        path: strings.of("/lib/fastlib/core.py"),
        library: fast,
        cpu_s: 4.5,
        wait_s: 0,
        allocated_bytes: 700e3,
      },
    ),
    lines: table(
      "file line function python_s native_s system_s wait_s runnable_s throttled_s samples allocated_bytes peak_bytes growth_bytes copied_bytes wasted_s finding library library_cpu_s worked_s",
      line(0, 12, {
        python_s: 1.5,
        native_s: 4,
        wait_s: 4,
        allocated_bytes: 800e3,
        peak_bytes: 250e3,
        wasted_s: 4,
        finding: 0,
        library: fast,
        library_cpu_s: 4.5,
        worked_s: 3,
      }),
      line(0, 21, { python_s: 3, native_s: 0, wait_s: 0, allocated_bytes: 200e3 }),
      line(0, 30, { python_s: 0.5, native_s: 0, wait_s: 0, peak_bytes: 6e3 }),
      line(0, 31, { python_s: 0.25, native_s: 0, wait_s: 0, peak_bytes: 4e3 }),
      line(1, 3, { python_s: 0.75, native_s: 0, wait_s: 0 }),
      line(2, 6, { python_s: 0.5, native_s: 4, wait_s: 0, allocated_bytes: 700e3 }),
    ),
    text: table(
      "file line text",
      ...MAIN_TEXT.map((text, i) => line(0, 6 + i, { text })),
      line(0, 21, { text: "    return n if n < 2 else fib(n - 1) + fib(n - 2)" }),
      line(1, 3, { text: HOSTILE }),
    ),
  };
}

const FINDING = `rank kind ${PLACE} first_file first_line native_function native_library category evidence advice redundant_fraction fraction_low fraction_high wasted_s wasted_s_low wasted_s_high wasted_share bytes traps sampler severity ${OWNER} cpu_s short_share watches verdict facts gain_s gain_most_s gain_within again_s again_s_low again_s_high again is_known`;

const finding = {
  rank: 1,
  kind: "load",
  file: "/app/main.py",
  line: 12,
  function: "work",
  category: "slice underutilization",
  evidence: `each element by a call of its own ${HOSTILE}`,
  advice: "work on whole arrays",
  redundant_fraction: 0.79,
  fraction_low: 0.7,
  fraction_high: 0.88,
  wasted_s: 4,
  wasted_s_low: 3,
  wasted_s_high: 5,
  wasted_share: 0.4,
  bytes: 64,
  traps: 87,
  sampler: "pmu",
  severity: "high",
  cpu_s: 5.5,
  again_s: 1.5,
  again: "looked up again",
  is_known: 0,
};

function findings(): PageData["findings"] {
  const inside = {
    ...finding,
    rank: 2,
    file: "/lib/fastlib/core.py",
    line: 6,
    library: "Fast-Lib",
    user_file: "/app/main.py",
    user_line: 12,
  };
  const low = { ...finding, rank: 3, line: 21, severity: "low", wasted_s: 1, wasted_share: 0.1, again_s: 1 };
  return table(FINDING, finding, inside, low, { ...low, rank: 4, line: 31, severity: "reuse" });
}

function frame(fn: string, file: string | null, line: number | null, offset: number | null = null) {
  return {
    kind: file ? "python" : "native",
    function: fn,
    file,
    line,
    library: file ? null : "Fast-Lib",
    offset,
  };
}

function pairs(): PageData["pairs"] {
  const trunk = [frame("<module>", "/app/main.py", 30), frame("work", "/app/main.py", 12)];
  return table(
    `rank kind ${PLACE} second_file second_line second_function second_library second_user_file second_user_line native_function native_library redundant_fraction fraction_low fraction_high wasted_s wasted_share bytes traps redundant changed memory length_s gap_s sampler severity ${OWNER} first_path second_path`,
    {
      rank: 1,
      kind: "load",
      file: "/app/main.py",
      line: 12,
      function: "work",
      second_file: "/app/main.py",
      second_line: 12,
      native_function: "fast_add",
      native_library: "Fast-Lib",
      redundant_fraction: 0.79,
      fraction_low: 0.7,
      fraction_high: 0.88,
      wasted_s: 4,
      wasted_share: 0.4,
      bytes: 64,
      traps: 87,
      redundant: 69,
      changed: 18,
      memory: "object",
      gap_s: 7e-6,
      sampler: "pmu",
      severity: "high",
      first_path: [...trunk, frame("fast_add", null, null, 16)],
      second_path: [...trunk, frame(HOSTILE, null, null, 32)],
    },
  );
}

function memory(
  strings: Strings,
): Pick<
  PageData,
  | "memory"
  | "peak"
  | "growth"
  | "leaks"
  | "copies"
  | "needless_copies"
  | "copy_pairs"
  | "heap"
  | "memory_timeline"
  | "line_timeline"
> {
  const columns = `rank ${PLACE} allocated_bytes peak_bytes average_bytes growth_bytes python_share samples ${OWNER} allocated_low allocated_high peak_low peak_high`;
  const own = {
    rank: 1,
    file: "/app/main.py",
    line: 12,
    function: "work",
    allocated_bytes: 800e3,
    peak_bytes: 250e3,
    peak_low: 200e3,
    peak_high: 300e3,
    average_bytes: 120e3,
    growth_bytes: 0,
    python_share: 0.2,
  };
  const times = Array.from({ length: 11 }, (_, i) => i);
  return {
    memory: table(columns, own, { ...own, rank: 2, line: 21, allocated_bytes: 200e3, peak_bytes: 0 }),
    peak: table(columns, own, { rank: 2, file: "(not sampled)", peak_bytes: 10e3 }),
    growth: table(
      `rank ${PLACE} growth_bytes growth_low growth_high rate_bytes_per_s kept_bytes allocated_bytes score library`,
      {
        rank: 1,
        file: "/app/main.py",
        line: 21,
        growth_bytes: 50e3,
        growth_low: 40e3,
        growth_high: 60e3,
        rate_bytes_per_s: 5e3,
        kept_bytes: 45e3,
        allocated_bytes: 200e3,
        score: 0.98,
      },
    ),
    leaks: table(`rank ${PLACE} score frees mallocs rate_bytes_per_s leaked_bytes holder ${OWNER}`, {
      rank: 1,
      file: "/app/main.py",
      line: 21,
      function: "fib",
      score: 0.98,
      frees: 0,
      mallocs: 60,
      rate_bytes_per_s: 5e3,
      leaked_bytes: 50e3,
      holder: `list ${HOSTILE} of module __main__`,
    }),
    copies: table(`rank ${PLACE} bytes bytes_per_s estimate samples bytes_low bytes_high ${OWNER}`, {
      rank: 1,
      file: "/app/main.py",
      line: 12,
      bytes: 3e9,
      bytes_per_s: 3e8,
      estimate: "counted",
      samples: 30,
    }),
    needless_copies: table(
      `rank ${PLACE} needless_share needless_low needless_high verdict bytes cpu_s cpu_share copies watched library`,
      {
        rank: 1,
        file: "/app/main.py",
        line: 12,
        needless_share: 0.95,
        needless_low: 0.85,
        needless_high: 1,
        verdict: "needless",
        bytes: 3e9,
        cpu_s: 0.6,
        cpu_share: 0.06,
        copies: 40,
        watched: 9,
      },
    ),
    copy_pairs: table("rank library caller bytes bytes_per_s samples estimate", {
      rank: 1,
      library: "Fast-Lib",
      caller: "your code",
      bytes: 3e9,
      bytes_per_s: 3e8,
      samples: 30,
      estimate: "counted",
    }),
    heap: table(
      "process pid peak_bytes peak_python_bytes peak_native_bytes peak_t_s rss_peak_bytes allocated_bytes freed_bytes profiler_bytes threshold_bytes allocator note",
      {
        process: 1,
        pid: 100,
        peak_bytes: 260e3,
        peak_python_bytes: 65e3,
        peak_native_bytes: 195e3,
        peak_t_s: 5,
        rss_peak_bytes: 900e3,
        allocated_bytes: 1000e3,
        freed_bytes: 950e3,
        profiler_bytes: 5e5,
        threshold_bytes: 65536,
        allocator: "glibc",
      },
    ),
    memory_timeline: table(
      "process t_s python_bytes native_bytes rss_bytes file line",
      ...times.map((t) => ({
        process: 1,
        t_s: t,
        python_bytes: 65e3,
        native_bytes: 39e3 * Math.min(t, 10 - t),
        rss_bytes: 900e3,
      })),
    ),
    line_timeline: table(
      "process file line t_s live_bytes",
      ...[0, 5, 10].map((t) => ({
        process: 1,
        file: strings.of("/app/main.py"),
        line: 21,
        t_s: t,
        live_bytes: 5e3 * t,
      })),
    ),
  };
}

/** Line 12 waits 4 s for a lock and a socket, line 21 collects garbage. */
function waits(): Pick<
  PageData,
  "waits" | "tasks" | "garbage" | "hints" | "wait_causes" | "thread_waits" | "slice_waits"
> {
  const row = { file: "/app/main.py", line: 12, function: "work", holds_gil: 0 };
  return {
    waits: table(
      `rank ${PLACE} cause resource holder_file holder_line holder_function holds_gil wait_s wait_share ${OWNER}`,
      {
        ...row,
        rank: 1,
        cause: "lock",
        wait_s: 3,
        wait_share: 0.75,
        holder_file: "/app/main.py",
        holder_line: 21,
        holder_function: "fib",
      },
      {
        ...row,
        rank: 2,
        file: "/lib/fastlib/core.py",
        line: 6,
        function: HOSTILE,
        cause: "socket",
        resource: "10.0.0.1:80",
        wait_s: 1,
        wait_share: 0.25,
        library: "Fast-Lib",
        user_file: "/app/main.py",
        user_line: 12,
      },
    ),
    tasks: table(TASK),
    garbage: table(`rank ${PLACE} gc_s gc_0_s gc_1_s gc_2_s cpu_share samples library`, {
      rank: 1,
      file: "/app/main.py",
      line: 21,
      function: "fib",
      gc_s: 0.5,
      cpu_share: 0.05,
      samples: 500,
    }),
    hints: table("kind share text file line", {
      kind: "waiting",
      share: 0.4,
      text: "mostly waiting: the main thread waited 4.00 of 10.00 s, 4.00 s of it at main.py:12  total = fastlib",
      file: "/app/main.py",
      line: 12,
    }),
    wait_causes: table(
      "cause wait_s wait_share held_s",
      { cause: "lock", wait_s: 3, wait_share: 0.75, held_s: 0 },
      { cause: "socket", wait_s: 1, wait_share: 0.25, held_s: 0 },
    ),
    slice_waits: table(
      "slice cause wait_s",
      { slice: 3, cause: "lock", wait_s: 3 },
      { slice: 3, cause: "socket", wait_s: 1 },
    ),
    thread_waits: table(
      "process thread cause wait_s",
      { process: 1, thread: 1, cause: "lock", wait_s: 3 },
      { process: 1, thread: 1, cause: "socket", wait_s: 1 },
    ),
  };
}

function loops(): Pick<PageData, "loops" | "loop_calls"> {
  const loop = {
    process: 1,
    pid: 100,
    loop: 1,
    iterations: 4000,
    observed_iterations: 200,
    body_s: 0.5,
    policy: "racing",
    confidence: 0.95,
  };
  const call = {
    ...loop,
    loop_file: "/app/main.py",
    loop_line: 11,
    loop_function: "work",
    file: "/app/main.py",
    line: 12,
  };
  return {
    loops: table(
      `rank ${PLACE} iterations observed_iterations entries body_s decided_after call_sites policy confidence note process pid loop`,
      {
        ...loop,
        rank: 1,
        file: "/app/main.py",
        line: 11,
        function: "work",
        entries: 2,
        decided_after: 180,
        call_sites: 2,
      },
    ),
    loop_calls: table(
      `rank ${PLACE} share share_low share_high calls mean_s variance_s2 p50_s p95_s p99_s decided_after state kind total_s observed_calls loop_file loop_line loop_function iterations observed_iterations body_s policy confidence note process pid loop`,
      {
        ...call,
        rank: 1,
        function: "fastlib.add",
        share: 0.9,
        share_low: 0.85,
        share_high: 0.95,
        calls: 4000,
        mean_s: 1.1e-4,
        p50_s: 1e-4,
        p95_s: 2e-4,
        p99_s: 3e-4,
        decided_after: 180,
        state: "kept",
        kind: "native",
        total_s: 0.45,
        observed_calls: 200,
      },
      {
        ...call,
        rank: 2,
        function: "(the loop's own code)",
        share: 0.1,
        share_low: 0.05,
        share_high: 0.15,
        state: "kept",
        kind: "body",
        total_s: 0.05,
      },
    ),
  };
}

function processes(): Pick<PageData, "processes" | "threads"> {
  const cost = { runnable_s: 0, throttled_s: 0, system_s: 0 };
  const one = {
    ...cost,
    process: 1,
    depth: 0,
    host: "vm",
    pid: 100,
    started: "2026-11-23T10:00:00.250Z",
    wall_s: 10,
    threads: 2,
    cause: "exit",
    exit_status: 0,
    executable: "/usr/bin/python3",
    command: "/app/main.py --fast",
    clock: "perf",
    period_s: 0.001,
    sampler: "pmu",
    cpu_s: 7,
    python_s: 3,
    native_s: 4,
    wait_s: 4,
    cpu_share: 0.7,
    samples: 7000,
    peak_bytes: 260e3,
    rss_peak_bytes: 900e3,
  };
  const two = {
    ...one,
    process: 2,
    parent: 1,
    depth: 1,
    pid: 101,
    parent_pid: 100,
    command: `/app/${HOSTILE}`,
    cpu_s: 3,
    python_s: 3,
    native_s: 0,
    wait_s: 0,
    cpu_share: 0.3,
    samples: 3000,
    cause: "killed",
    exit_status: 137,
    threads: 1,
    peak_bytes: null,
  };
  const thread = {
    ...cost,
    process: 1,
    pid: 100,
    thread: 1,
    tid: 100,
    name: "MainThread",
    is_main: 1,
    wall_s: 10,
    cpu_s: 6.25,
    python_s: 2.25,
    native_s: 4,
    wait_s: 4,
    cpu_share: 0.625,
    samples: 6250,
    clock_cpu_s: 6.3,
    threads: 1,
  };
  return {
    processes: table(
      `process parent depth host pid parent_pid started wall_s ${COST} threads cause exit_status executable command clock clock_note period_s sampler sampler_note peak_bytes rss_peak_bytes`,
      one,
      two,
    ),
    threads: table(
      `process pid thread tid name is_main started wall_s ${COST} clock_cpu_s threads`,
      thread,
      {
        ...thread,
        thread: 2,
        tid: 102,
        name: HOSTILE,
        is_main: 0,
        cpu_s: 0.75,
        python_s: 0.75,
        native_s: 0,
        wait_s: 0,
        samples: 750,
      },
      {
        ...thread,
        process: 2,
        pid: 101,
        tid: 101,
        cpu_s: 3,
        python_s: 3,
        native_s: 0,
        wait_s: 0,
        samples: 3000,
      },
    ),
  };
}

function slices(): PageData["slices"] {
  const all = Array.from({ length: 10 }, (_, i) => ({
    slice: i + 1,
    started: "2026-11-23T10:00:00Z",
    t_s: i,
    wall_s: 1,
    cpu_s: 1,
    python_s: 0.6,
    native_s: 0.4,
    system_s: 0,
    wait_s: 0.4,
    gc_s: 0.05,
    samples: 1000,
    allocated_bytes: 100e3,
    copy_bytes: 0,
    file: "/app/main.py",
    line: 12,
  }));
  return table(
    "slice started t_s wall_s cpu_s python_s native_s system_s wait_s runnable_s throttled_s gc_s samples allocated_bytes copy_bytes file line",
    ...all,
  );
}

function measured(): Pick<
  PageData,
  | "overhead"
  | "overhead_slices"
  | "drops"
  | "environment"
  | "counters"
  | "functions"
  | "native_functions"
  | "libraries"
> {
  return {
    overhead: table("collector budget_share measured_share rate drops cpu_s", {
      collector: "time",
      budget_share: 0.05,
      measured_share: 0.04,
      rate: 1000,
      drops: 3,
      cpu_s: 0.4,
    }),
    overhead_slices: table(
      "slice t_s cpu_s overhead_s overhead_share budget_share samples_per_s time_s redundancy_s memory_s counting_s copies_s caches_s collection_s",
      {
        slice: 1,
        t_s: 0,
        cpu_s: 1,
        overhead_s: 0.12,
        overhead_share: 0.12,
        budget_share: 0.05,
        samples_per_s: 1000,
        time_s: 0.04,
        redundancy_s: 0.03,
        memory_s: 0.01,
        counting_s: 0.01,
        copies_s: 0,
        caches_s: 0.01,
        collection_s: 0.02,
      },
    ),
    drops: table("process pid counter drops", { process: 1, pid: 100, counter: "ring_full", drops: 3 }),
    environment: table(
      "key value",
      { key: "python_version", value: "3.11.2" },
      { key: HOSTILE, value: HOSTILE },
    ),
    counters: table(
      "counter value is_drop",
      { counter: "samples", value: 10000, is_drop: 0 },
      { counter: "ring_full", value: 3, is_drop: 1 },
    ),
    functions: table(`rank ${PLACE} ${COST} cpu_s_low cpu_s_high ${OWNER}`),
    native_functions: table(`rank ${PLACE} library module ${COST} cpu_s_low cpu_s_high`),
    libraries: table(`library ${COST}`),
  };
}

/** `extra` contexts more make the page as large as pages get. */
export function made(extra = 0): PageData {
  const strings = new Strings();
  const nodes = padded(extra);
  return {
    schema: 1,
    page: {
      pieprof_version: "0.1.0",
      made: "2026-11-23T11:00:00Z",
      profile: "run.db",
      process: null,
      note: null,
      limit_bytes: 3e6,
    },
    run: {
      run: 1,
      started: "2026-11-23T10:00:00.250Z",
      command: "/app/main.py --fast",
      wall_s: 10,
      cpu_s: 10,
      python_s: 6,
      native_s: 4,
      system_s: 0,
      wait_s: 4,
      runnable_s: 0,
      throttled_s: 0,
      samples: 10000,
      processes: 2,
      threads: 3,
      cause: "exit",
      exit_status: 0,
      clock: "perf",
      clock_note: null,
      period_s: 0.001,
      sampler: "pmu",
      sampler_note: null,
      overhead_s: 0.4,
      overhead_share: 0.04,
      drops: 3,
      python_version: "3.11.2",
      pieprof_version: "0.1.0",
      peak_bytes: 260e3,
      rss_peak_bytes: 900e3,
    },
    findings: findings(),
    undecided_lines: table("file line share known what_to_do count_finding"),
    pairs: pairs(),
    ...memory(strings),
    ...loops(),
    ...waits(),
    ...processes(),
    ...measured(),
    slices: slices(),
    source: sourceOf(strings),
    tree: treeOf(strings, nodes),
    time: timeOf(nodes),
    strings: strings.all,
    cut: { "tree.nodes": { rows: 11, rows_total: 23, order: "CPU time, then waiting" } },
  };
}

/** A run in which nothing was measured: every view has to say so. */
export function bare(): PageData {
  const full = made();
  const none = <T>(one: Table<T>) =>
    Object.fromEntries(Object.keys(one).map((name) => [name, []])) as unknown as Table<T>;
  const empty = Object.fromEntries(
    Object.entries(full).map(([name, value]) => {
      const first = value && typeof value === "object" ? Object.values(value)[0] : null;
      return [name, Array.isArray(first) && name !== "strings" ? none(value as Table<unknown>) : value];
    }),
  ) as unknown as PageData;
  const strings = new Strings();
  return {
    ...empty,
    run: {
      ...full.run,
      cpu_s: null,
      python_s: null,
      native_s: null,
      system_s: null,
      wait_s: null,
      command: null,
      sampler: "none",
      overhead_s: null,
      period_s: null,
      drops: null,
      samples: null,
    },
    source: { files: none(full.source.files), lines: none(full.source.lines), text: none(full.source.text) },
    tree: treeOf(strings, NODES.slice(0, 1)),
    time: null,
    strings: strings.all,
    cut: {},
  };
}
