// SPDX-License-Identifier: Apache-2.0
// What `pieprof report DB --html FILE` and `pieprof serve DB` give the page: the contract between storage/page/ (C),
// which writes it, and web/, which shows it. tests/storage/test_page_data.py holds a page's data against this file.
//
// It stands in the page as
//     <script type="application/json" id="pieprof-data">{…}</script>
// and is read by JSON.parse(document.getElementById("pieprof-data")!.textContent!). The characters <, U+2028 and U+2029
// stand there as \u003c, \u2028 and \u2029, so JSON.parse gives them back and HTML never sees them. In the template,
// web/dist/page.html, the element's whole text is the marker "@PIEPROF_DATA@", once in the file. The template carries
// its own Content-Security-Policy, made by its build.
//
// All text comes from the profiled program and may be hostile: it is text, never HTML. Control characters may be in it.
// Texts of more than 1000 bytes are cut and end with "…".
//
// Units are in the names: _s seconds, _ns nanoseconds, _bytes bytes, _share part of 1 (0.25 = 25 %), _hz per second.
// null means not known or not measured, never 0. Lines start at 1. Points in time named t_s are seconds since the run's
// start (run.started); "started" and "made" are UTC, "2026-11-23T10:00:00.250Z".
//
// A table is columns side by side, all of the same length: row i is the i-th of each. Tables are in the order in which
// people want them, the most important row first, unless something else is said. What is too much for the page was cut
// from the end of that order: `cut` tells how much.

export interface PageData {
  schema: 1; // changes only when something changes its meaning or disappears; new keys may come at any time
  page: About;
  run: Run;

  // The answers of `pieprof query DB --json` to the question beside it: the same columns with the same numbers. A
  // question that gets further columns has them here, too.
  findings: Table<Finding>; // "redundancy": redundant work, the costliest first
  undecided_lines: Table<UndecidedLine>;
  pairs: Table<Pair>; // "pairs"
  functions: Table<Line>; // "hot functions": by CPU time
  native_functions: Table<NativeFunction>; // "native functions"
  libraries: Table<Library>; // "libraries"
  memory: Table<MemoryLine>; // "memory": by allocated bytes
  peak: Table<MemoryLine>; // "peak": by bytes at the peak; the rows add up to what was counted then. Its last rows may
  // have a name in brackets for a file and no line: "(not sampled)"
  growth: Table<Growth>; // "growth": allocated and not freed, leak or not
  leaks: Table<Leak>; // "leaks"
  copies: Table<Copy>; // "copies"
  needless_copies: Table<NeedlessCopy>; // "needless copies"
  copy_pairs: Table<CopyPair>; // "copy pairs"
  heap: Table<Heap>; // "heap": counted totals of each process
  waits: Table<Wait>; // "wait causes": by waiting
  tasks: Table<TaskTime>; // "tasks": by waiting and CPU time
  garbage: Table<Garbage>; // "garbage collection": by CPU time of the collections
  loops: Table<Loop>; // "traced loops"
  loop_calls: Table<LoopCall>; // "traced calls": loop by loop, in each the costliest call first
  processes: Table<Process>; // "processes": in the order in which they began
  threads: Table<Thread>; // "threads": by CPU time
  overhead: Table<Overhead>; // "overhead": by collector
  overhead_slices: Table<OverheadSlice>; // "overhead over time": by slice
  drops: Table<Drop>; // "drops"
  environment: Table<Environment>; // "environment": by key
  slices: Table<Slice>; // "slices": in the order of time

  // What the summary says of the run as a whole, with its text: "hints" of "summary".
  hints: Table<Hint>;
  // Sums of waiting by cause, of all threads, of each, and of each slice. What `waits` lacks of long tables is in them, too.
  wait_causes: Table<WaitCause>;
  thread_waits: Table<ThreadWait>;
  slice_waits: Table<SliceWait>;

  // The curves of memory, of the processes with most memory; in each by t_s. Between two points: a straight line.
  memory_timeline: Table<MemoryPoint>;
  // The same of single lines, line by line, those with most memory first; in each by t_s.
  line_timeline: Table<LinePoint>;
  // Counted events in the profiler, of the whole run; those that are lost samples are in `drops`, too.
  counters: Table<{ counter: string; value: number; is_drop: number }>;

  // Texts of the tables below, each once. They refer to them by index.
  strings: string[];
  source: Source;
  tree: Tree;
  time: Time | null; // null: the profile has no slices of time

  // What the page does not have. Only tables with rows_total > rows are here; {}: the page has everything.
  cut: { [table: string]: Cut };
}

export type Table<Row> = { [Column in keyof Row]: Row[Column][] };

export interface About {
  pieprof_version: string; // that made the page
  made: string;
  profile: string; // the profile's path, as it was given
  process: string | null; // the page is only about this process (--process); null: about the run
  note: string | null; // one line that people should know about the file
  limit_bytes: number | null; // how large a page may be; null: from a server, which sends everything
}

export interface Cut {
  rows: number; // in the page
  rows_total: number; // in the profile
  order: string; // by what the rows of the page were chosen, for people: "CPU time, then waiting"
}

// CPU time is python + native + system. wait: off the CPU by its own doing; runnable: ready, without a processor;
// throttled: by a CPU quota. cpu_share is of the run's CPU time.
interface Cost {
  cpu_s: number | null;
  python_s: number | null;
  native_s: number | null;
  system_s: number | null;
  wait_s: number | null;
  runnable_s: number | null;
  throttled_s: number | null;
  cpu_share: number | null;
  samples: number | null;
}

// One row of "runs", as an object.
export interface Run extends Omit<Cost, "cpu_share"> {
  run: number;
  started: string;
  command: string | null;
  wall_s: number | null;
  processes: number;
  threads: number;
  cause: string | null; // how the first process ended, as in Process
  exit_status: number | null;
  clock: string; // "perf", "perf-user", "timer", "itimer", "none"
  clock_note: string | null; // why there is no better clock
  period_s: number | null; // of samples, CPU time
  sampler: string; // of memory accesses: "pmu", "taskclock", "none"
  sampler_note: string | null; // why there is no better sampler
  overhead_s: number | null;
  overhead_share: number | null; // of the program's own CPU time
  drops: number | null; // lost samples
  python_version: string | null;
  pieprof_version: string; // that measured
  peak_bytes: number | null; // of the process that had most
  rss_peak_bytes: number | null;
}

// Own lines have library: null. Of a library's line, user_file and user_line are the line of own code that led there.
interface Place {
  file: string | null; // absolute, or as Python gives it ("<string>")
  line: number | null;
  function: string | null;
}

interface Owner {
  library: string | null; // distribution; "python": the standard library; null: own code
  user_file: string | null;
  user_line: number | null;
}

export interface Finding extends Place, Owner {
  rank: number; // pieprof confirm --finding RANK
  kind: string; // "load", "store"
  first_file: string | null; // where the first of the two accesses was
  first_line: number | null;
  native_function: string | null;
  native_library: string | null;
  category: string | null; // what: "slice underutilization", "loop-invariant computation", …
  evidence: string | null; // how it is known, a sentence
  advice: string | null; // what to try
  redundant_fraction: number | null; // of the line's watched accesses, with a 95 % interval
  fraction_low: number | null;
  fraction_high: number | null;
  wasted_s: number | null; // CPU time that a fix may save, with a 95 % interval
  wasted_s_low: number | null;
  wasted_s_high: number | null;
  wasted_share: number | null; // of the run's CPU time
  bytes: number | null;
  traps: number; // comparisons that tell of it
  sampler: string | null;
  severity: string; // "high", "maybe" (perhaps needless), "low" (less weight, or less sure), "reuse" (no waste)
  cpu_s: number | null; // of the line
  short_share: number | null;
  watches: number | null;
  verdict: string | null; // of `pieprof confirm`: "confirmed", "refuted", "undecided", …; null: calls were not counted
  facts: string | null; // what was counted, a sentence
  gain_s: number | null; // what a fix gains, about, counted
  gain_most_s: number | null; // what a fix within the function gain_within gains at most
  gain_within: string | null; // the name of that function; null: there is no such bound
  again_s: number | null; // part of the line's time that did the same again
  again_s_low: number | null;
  again_s_high: number | null;
  again: string | null; // "looked up again", "computed again", "multiplied by zero", …
  is_known: number; // 1: the line is in a call of which a quicker one is known; that is no measurement
}

// Where no finding is "high": a line that takes a good part of the run, of which nothing is decided.
export interface UndecidedLine {
  file: string;
  line: number;
  share: number; // of the run's CPU time
  known: string; // of its calls: "but no call is made again: 57 counted calls of convolve had …"
  what_to_do: string;
  count_finding: number | null; // `rank` of the finding whose calls pieprof confirm should count; null: that tells no more
}

export interface PathFrame {
  kind: "python" | "native";
  function: string | null;
  file: string | null;
  line: number | null;
  library: string | null;
  offset: number | null; // address in the module
}

export interface Pair extends Place, Owner {
  rank: number;
  kind: string;
  second_file: string | null;
  second_line: number | null;
  second_function: string | null;
  second_library: string | null;
  second_user_file: string | null;
  second_user_line: number | null;
  native_function: string | null;
  native_library: string | null;
  redundant_fraction: number | null;
  fraction_low: number | null;
  fraction_high: number | null;
  wasted_s: number | null;
  wasted_share: number | null;
  bytes: number | null;
  traps: number;
  redundant: number;
  changed: number;
  memory: string | null; // "object", "array", "result", "returned", "call", "other"
  length_s: number | null;
  gap_s: number | null; // between the two accesses
  sampler: string | null;
  severity: string;
  first_path: PathFrame[] | null; // outermost first
  second_path: PathFrame[] | null;
}

export interface Line extends Place, Owner, Cost {
  rank: number; // of a function, `line` is its first line
  cpu_s_low: number | null; // 95 %
  cpu_s_high: number | null;
}

export interface NativeFunction extends Place, Cost {
  rank: number;
  library: string | null;
  module: string | null; // path of the ELF file
  cpu_s_low: number | null;
  cpu_s_high: number | null;
}

export interface Library extends Cost {
  library: string;
}

export interface MemoryLine extends Place, Owner {
  rank: number;
  allocated_bytes: number | null; // ever; with a 95 % interval, as peak_bytes
  allocated_low: number | null;
  allocated_high: number | null;
  peak_bytes: number | null; // live when the process had most
  peak_low: number | null;
  peak_high: number | null;
  average_bytes: number | null; // live, over the process's time
  growth_bytes: number | null; // not freed at the end
  python_share: number | null; // of the allocated bytes, by the interpreter's allocators
  samples: number | null;
}

export interface Growth extends Place {
  rank: number;
  growth_bytes: number;
  growth_low: number;
  growth_high: number;
  rate_bytes_per_s: number | null;
  kept_bytes: number | null;
  allocated_bytes: number | null;
  score: number | null;
  library: string | null;
}

export interface Leak extends Place, Owner {
  rank: number;
  score: number | null; // > 0.95
  frees: number;
  mallocs: number;
  rate_bytes_per_s: number | null;
  leaked_bytes: number | null;
  holder: string | null; // what retains the objects: types, and the way to a module, class or frame
}

export interface Copy extends Place, Owner {
  rank: number;
  bytes: number;
  bytes_low: number | null;
  bytes_high: number | null;
  bytes_per_s: number | null;
  estimate: string; // "counted", "sampled", "loop" (a library's own copy loops, by time)
  samples: number;
}

export interface NeedlessCopy extends Place {
  rank: number;
  needless_share: number | null;
  needless_low: number | null;
  needless_high: number | null;
  verdict: string | null;
  bytes: number | null;
  cpu_s: number | null;
  cpu_share: number | null;
  copies: number | null;
  watched: number | null;
  library: string | null;
}

export interface CopyPair {
  rank: number;
  library: string | null; // that copied
  caller: string | null; // whose code called it
  bytes: number;
  bytes_per_s: number | null;
  samples: number;
  estimate: string;
}

export interface Heap {
  process: number;
  pid: number;
  peak_bytes: number | null;
  peak_python_bytes: number | null;
  peak_native_bytes: number | null;
  peak_t_s: number | null;
  rss_peak_bytes: number | null;
  allocated_bytes: number | null;
  freed_bytes: number | null;
  profiler_bytes: number | null; // the profiler's own, which the others exclude
  threshold_bytes: number | null;
  allocator: string | null;
  note: string | null; // what is not measured, and why
}

export interface Wait extends Place, Owner {
  rank: number;
  cause: string; // "gil", "lock", "socket", "pipe", "file", "terminal", "poll", "sleep", "child", "gpu", "disk",
  // "signal", "other", "unknown"
  resource: string | null; // path or address
  holder_file: string | null; // where the thread was that held the lock meanwhile
  holder_line: number | null;
  holder_function: string | null;
  holds_gil: number; // 1: the waiting thread held the GIL meanwhile
  wait_s: number;
  wait_share: number | null; // of all that threads waited
}

// What tasks of asyncio waited, by name, coroutine, line of own code and cause, and their CPU time.
export interface TaskTime {
  rank: number;
  task: string | null; // null: the program gave these tasks no name
  coroutine: string | null; // null: not known
  file: string | null; // where they were suspended, or ran
  line: number | null;
  function: string | null;
  cause: string | null; // as in Wait; null: CPU time
  wait_s: number;
  wait_share: number | null; // of what all tasks waited
  coroutine_file: string | null;
  coroutine_line: number | null; // its first line
  cpu_s: number;
  cpu_share: number | null; // of the CPU time of all tasks
}

export interface WaitCause {
  cause: string; // as in Wait
  wait_s: number;
  wait_share: number | null;
  held_s: number; // part of wait_s in which the GIL was held
}

export interface ThreadWait {
  process: number; // (process, thread) is the key of a thread
  thread: number;
  cause: string;
  wait_s: number;
}

export interface SliceWait {
  slice: number; // as in Slice
  cause: string; // as in Wait
  wait_s: number;
}

export interface Garbage extends Place {
  rank: number;
  gc_s: number; // CPU time of collections that began at this line, …
  gc_0_s: number | null; // … by generation, where the profile knows it
  gc_1_s: number | null;
  gc_2_s: number | null;
  cpu_share: number | null;
  samples: number | null;
  library: string | null;
}

export interface Hint {
  kind: string; // "input bound", "waiting", "processors", "throttled", "imports", "garbage collection"
  share: number | null; // of the main thread's, of the threads' or of the CPU time
  text: string; // a line with the figures
  file: string | null; // the line that it is about
  line: number | null;
}

export interface Loop extends Place {
  rank: number;
  iterations: number;
  observed_iterations: number;
  entries: number;
  body_s: number | null;
  decided_after: number | null; // observed iterations; null: not decided yet
  call_sites: number;
  policy: string | null;
  confidence: number | null;
  note: string | null;
  process: number;
  pid: number;
  loop: number; // (process, loop) names the loop in loop_calls
}

export interface LoopCall extends Place {
  rank: number;
  share: number | null; // of body_s; the shares of a loop add up to 1
  share_low: number | null;
  share_high: number | null;
  calls: number | null;
  mean_s: number | null; // of one call, as the next ones
  variance_s2: number | null;
  p50_s: number | null;
  p95_s: number | null;
  p99_s: number | null;
  decided_after: number | null;
  state: string | null; // "undecided", "dropped" (less than every other call that was left), "kept"
  kind: string; // "python", "native", "body": the loop's own code
  total_s: number | null;
  observed_calls: number | null;
  loop_file: string | null;
  loop_line: number | null;
  loop_function: string | null;
  iterations: number;
  observed_iterations: number;
  body_s: number | null;
  policy: string | null;
  confidence: number | null;
  note: string | null;
  process: number;
  pid: number;
  loop: number;
}

export interface Process extends Cost {
  process: number; // the key of a process in all tables
  parent: number | null;
  depth: number | null; // in the tree of processes; 0: no profiled process started it
  host: string | null;
  pid: number;
  parent_pid: number | null;
  started: string;
  wall_s: number | null;
  threads: number;
  cause: string | null; // "exit", "_exit", "exec", "seccomp", "signal", "killed", "gone"; null: it still runs, or not known
  exit_status: number | null;
  executable: string | null;
  command: string | null;
  clock: string;
  clock_note: string | null;
  period_s: number | null;
  sampler: string;
  sampler_note: string | null;
  peak_bytes: number | null;
  rss_peak_bytes: number | null;
}

export interface Thread extends Cost {
  process: number;
  pid: number;
  thread: number; // (process, thread) is the key; 0: all that ended before they had a clock
  tid: number | null;
  name: string | null;
  is_main: number; // 0, 1
  started: string | null;
  wall_s: number | null;
  clock_cpu_s: number | null; // by the thread's own clock: what the samples are held against
  threads: number; // that the row stands for
}

export interface OverheadSlice {
  slice: number;
  t_s: number;
  cpu_s: number | null;
  overhead_s: number;
  overhead_share: number | null; // of the program's own CPU time in the slice
  budget_share: number | null;
  samples_per_s: number | null; // of CPU time
  time_s: number;
  redundancy_s: number;
  memory_s: number;
  counting_s: number;
  copies_s: number;
  caches_s: number;
  collection_s: number;
}

export interface Overhead {
  collector: string;
  budget_share: number | null;
  measured_share: number | null; // of the program's own CPU time
  rate: number | null; // samples per second
  drops: number | null;
  cpu_s: number | null;
}

export interface Drop {
  process: number;
  pid: number;
  counter: string;
  drops: number;
}

export interface Environment {
  key: string; // "python_version", "cpu", "package:numpy", …
  value: string | null;
}

export interface Slice extends Omit<Cost, "cpu_share"> {
  slice: number; // from 1 on; the others' `slice` is this number
  started: string;
  t_s: number;
  wall_s: number | null;
  gc_s: number | null; // part of cpu_s in which garbage was collected
  allocated_bytes: number | null;
  copy_bytes: number | null;
  file: string | null; // the line of own code with most CPU time in the slice
  line: number | null;
}

export interface MemoryPoint {
  process: number;
  t_s: number;
  python_bytes: number; // live: of the interpreter's allocators, and
  native_bytes: number; // of native code; the heap is their sum
  rss_bytes: number | null; // resident set; what is above the heap is free inside the allocator, code, stacks
  file: number | null; // strings; the line whose allocation crossed the threshold just then
  line: number | null;
}

export interface LinePoint {
  process: number;
  file: number | null; // strings; null: no Python line
  line: number | null;
  t_s: number;
  live_bytes: number;
}

// Files with their lines and texts. Own files first, the costliest (CPU time, waiting, allocated bytes) first; then
// libraries' files the same way.
export interface Source {
  files: Table<SourceFile>;
  lines: Table<SourceLine>; // file by file in the order of `files`, in each by line
  text: Table<SourceText>; // the same order. Only functions that ran have text; gaps are gaps
}

export interface SourceFile {
  path: number; // strings
  library: number | null; // strings; null: own code
  cpu_s: number | null; // sums of all lines of the file, also of those that were cut
  wait_s: number | null;
  allocated_bytes: number | null;
}

// A line of an own file has its own cost and all that it called in libraries (the question "own lines"), as in the
// report; a library's line has what was spent in itself ("hot lines"). So the lines of own files add up to the run,
// but for code that no own line led to.
export interface SourceLine {
  file: number; // index into source.files
  line: number;
  function: number | null; // strings
  python_s: number | null;
  native_s: number | null;
  system_s: number | null;
  wait_s: number | null;
  runnable_s: number | null;
  throttled_s: number | null;
  samples: number | null;
  allocated_bytes: number | null;
  peak_bytes: number | null;
  growth_bytes: number | null;
  copied_bytes: number | null;
  wasted_s: number | null; // of the line's costliest finding; null: none, or it was cut
  finding: number | null; // index into `findings` of that one; null: none, or it was cut
  library: number | null; // strings: own files: the library that took most below the line
  library_cpu_s: number | null; // what it took
  worked_s: number | null; // CPU time of threads without Python frames while the line waited for them; in no other figure
}

export interface SourceText {
  file: number; // index into source.files
  line: number;
  text: string; // without the line end; cut at 500 bytes
}

// The calling contexts of all processes and threads as one tree. A frame is a line of a function, so that the callers of
// a line are known: for a flame graph of functions, merge children of one parent whose frames have the same `function`.
// Values are those of the node itself, without what it called; a parent's index is less than its child's, so one pass
// from the end sums up. The tree is cut by the importance of a node with all below it (its parts of CPU time, waiting
// and memory): what was cut below a node is one child of it with frame 0. So the sums of all columns stay the run's.
export interface Tree {
  functions: Table<TreeFunction>;
  frames: Table<TreeFrame>; // frame 0: "what was cut", without function
  nodes: {
    parent: number[]; // index into nodes; node 0 is above all roots, its parent is 0 and its frame is null
    frame: (number | null)[];
    hidden: number[]; // nodes that were cut and are summed up here; 0: an ordinary node
    // By metric. null: nothing of it was measured, or it is 0 everywhere.
    python_ns: number[] | null;
    native_ns: number[] | null;
    system_ns: number[] | null;
    wait_ns: number[] | null;
    runnable_ns: number[] | null;
    throttled_ns: number[] | null;
    samples: number[] | null;
    allocated_bytes: number[] | null;
    peak_bytes: number[] | null; // live at the peak
    live_bytes: number[] | null; // not freed at the end
    copied_bytes: number[] | null;
    wasted_ns: number[] | null; // fixes may save: time that wasteful lines share counts once, as in the summary
  };
}

export interface TreeFunction {
  name: number | null; // strings; null: no name known
  file: number | null; // strings
  library: number | null; // strings; null: own code, or not known
  module: number | null; // strings: path of the ELF file; null: Python
  kind: number; // 1: Python, 2: native
  first_line: number | null;
}

export interface TreeFrame {
  function: number | null; // index into functions; null: of frame 0 only
  line: number | null; // of the source; null: not known, as of most native code
}

// The same costs by slice of time, thread and node, for brushing: choose cells by slice, process or thread, add them up
// by `node`, and every view of the tree and of source lines is about that choice. A slice, a thread or a node that has
// nothing has no cell. Where all cells are too many, the cells of a node are added to those of the nearest node above
// that has cells: `nodes` tells how many nodes, the first ones of tree.nodes, have cells of their own. The sums of all
// cells are those of the run.
export interface Time {
  width_s: number; // of a slice; slice n begins at t_s = (n - 1) * width_s. For slices of the page, see `slices`
  first_t_s: number; // t_s of slice 1; not 0 where only the last slices were kept
  nodes: number;
  cells: {
    slice: number[]; // number, from 1 on
    thread: number[]; // index into `threads`; -1: not known (memory, copies), or the thread was cut
    process: number[]; // key of the process; 0: too many processes for cells of their own
    node: number[]; // index into tree.nodes
    python_ns: number[] | null; // as in the tree
    native_ns: number[] | null;
    system_ns: number[] | null;
    wait_ns: number[] | null;
    runnable_ns: number[] | null;
    throttled_ns: number[] | null;
    samples: number[] | null;
    allocated_bytes: number[] | null;
    copied_bytes: number[] | null;
  };
}
