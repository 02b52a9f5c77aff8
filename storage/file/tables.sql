-- SPDX-License-Identifier: Apache-2.0
-- The file. One file holds many runs, a run many processes; everything a process measured is keyed by
-- (process, id) with the ids that the process chose, so that processes write without asking each other, and files
-- are merged by renumbering processes alone. Times are integers in nanoseconds; points in time are CLOCK_REALTIME.
-- NULL means unknown or not measured, never 0.
--
-- There is nothing but tables in a file. What they mean is said by the views of whoever reads it (time.sql and so on). A
-- column that is added later has a default: rows of older files get it when they are copied, and older programs write it.

CREATE TABLE run (
  id INTEGER PRIMARY KEY,          -- in the order in which runs were appended
  started_ns INTEGER NOT NULL,     -- point in time
  pieprof_version TEXT NOT NULL,   -- of the program that wrote it
  overhead_budget REAL,            -- share of the program's time that the profiler might use; 0.05 = 5 %
  identity TEXT NOT NULL UNIQUE    -- the same in all files that processes of the run wrote: by it they are merged
);

CREATE TABLE process (
  id INTEGER PRIMARY KEY,          -- in the order in which processes began to write
  run INTEGER NOT NULL REFERENCES run,
  parent INTEGER REFERENCES process, -- the profiled process that started it
  pid INTEGER NOT NULL,            -- the kernel's, on its host
  parent_pid INTEGER,              -- of whoever started it, profiled or not
  started_ns INTEGER NOT NULL,     -- point in time
  seen_ns INTEGER NOT NULL,        -- point in time of the last flush
  ended_ns INTEGER,                -- point in time; NULL: not known
  cause TEXT,                      -- how it ended: "exit", "_exit", "exec" (it became another program), "seccomp" (it set a
                                   -- filter and ran on without a profile), "signal" (its
                                   -- last act was to write), "killed" (its parent got the status), "gone" (nobody saw
                                   -- how); NULL: it still runs, or nobody was left to say
  exit_status INTEGER,             -- as the shell sees it
  argv TEXT,                       -- JSON array; NULL: not kept
  executable TEXT,                 -- sys.executable
  clock TEXT NOT NULL,             -- "perf", "perf-user", "timer", "itimer", "none": how CPU time was sampled
  clock_note TEXT,                 -- why not a better one
  period_ns INTEGER,               -- of the samples, CPU time
  sampler TEXT NOT NULL,           -- "pmu" (weighted by accesses), "taskclock" (weighted by time), "none": how memory
                                   -- accesses were sampled
  sampler_note TEXT,               -- why not a better one
  host TEXT,                       -- name of the machine, where its pid means something
  slice_width_s INTEGER NOT NULL DEFAULT 0, -- length of the slices of its time: 1, 2, 4, …; 0: all in one
  forgotten_s INTEGER NOT NULL DEFAULT 0 -- slices before this one are not kept (--keep)
);
CREATE INDEX process_run ON process (run);

CREATE TABLE environment (
  run INTEGER NOT NULL REFERENCES run,
  key TEXT NOT NULL,               -- "python_version", "cpu", "package:numpy", …; a unit is part of the key
  value TEXT,                      -- NULL: could not be found out
  PRIMARY KEY (run, key)
) WITHOUT ROWID;

CREATE TABLE thread (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on; 0: see threads
  tid INTEGER,                     -- of the kernel
  name TEXT,                       -- as threading has it, else the kernel's
  is_main INTEGER NOT NULL,        -- 0 or 1
  started_ns INTEGER,              -- point in time
  ended_ns INTEGER,                -- point in time; NULL: not seen to end
  cpu_ns INTEGER,                  -- by the thread's own CPU clock, since its start
  wall_ns INTEGER,                 -- from its start to its end or last flush
  wait_ns INTEGER,                 -- as in sample, wherever it was; with the next two and cpu_ns: wall_ns
  runnable_ns INTEGER,             -- the same
  throttled_ns INTEGER,            -- the same
  samples INTEGER,                 -- taken
  threads INTEGER NOT NULL DEFAULT 1, -- that the row stands for: 1; in the row with id 0 all that ended before they had a
                                   -- clock, within a millisecond or so: times are sums, started_ns is the first one's
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE module (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  path TEXT NOT NULL,              -- of the ELF file
  build_id TEXT,                   -- hexadecimal
  library TEXT,                    -- distribution that it belongs to; "python": the interpreter
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE file (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  path TEXT NOT NULL,              -- absolute, or as Python says it ("<string>", "<frozen …>")
  is_own INTEGER NOT NULL,         -- 1: the user's own code
  library TEXT,                    -- distribution that it belongs to; "python": the standard library
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE function (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  kind INTEGER NOT NULL,           -- 1: Python, 2: native
  name TEXT,                       -- qualified name, or demangled symbol
  file INTEGER,                    -- file (process, id) of its source
  first_line INTEGER,              -- 1-based
  module INTEGER,                  -- module (process, id); native code only
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE location (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  function INTEGER NOT NULL,       -- function (process, id)
  line INTEGER,                    -- 1-based
  caller INTEGER,                  -- location (process, id) of the function that this one was inlined into
  address INTEGER,                 -- virtual address in the module; native code only
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE node (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  parent INTEGER,                  -- node (process, id); NULL: a root. The interpreter's own frames, through which one
                                   -- Python line called another, have no nodes
  location INTEGER NOT NULL,       -- location (process, id)
  line_location INTEGER,           -- innermost Python location at or above this node
  own_location INTEGER,            -- innermost Python location of the user's own code at or above this node
  library_module INTEGER,          -- module (process, id): innermost native code of a distribution at or above this
                                   -- node and below line_location
  entry_function INTEGER,          -- function (process, id) of the outermost native code at or above this node and
                                   -- below line_location that is not of the interpreter's home (profiler/base/home.h): what
                                   -- the interpreter called
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

-- Time slices. What is summed is summed by slice of the process's time: seconds from process.started_ns on, a multiple of
-- process.slice_width_s. There are at most 256; when there would be more, each two neighbours become one. The sum over all
-- slices is that of the process.
CREATE TABLE sample (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- in which they were taken: its begin
  node INTEGER NOT NULL,           -- node (process, id)
  thread INTEGER NOT NULL,         -- thread (process, id)
  samples INTEGER NOT NULL,        -- taken in this context
  wait_samples INTEGER NOT NULL,   -- ticks at which the thread was found off the CPU here
  python_ns INTEGER NOT NULL,      -- CPU time in the interpreter
  native_ns INTEGER NOT NULL,      -- CPU time in native code
  system_ns INTEGER NOT NULL,      -- CPU time in the kernel
  wait_ns INTEGER NOT NULL,        -- time off the CPU by its own doing: asleep, or waiting for something
  runnable_ns INTEGER NOT NULL DEFAULT 0, -- time in which it was ready to run and had no processor
  throttled_ns INTEGER NOT NULL DEFAULT 0, -- the same because of a CPU quota (cgroup)
  cpu_sq_ns2 REAL NOT NULL,        -- sum of the squared CPU weights of the samples
  PRIMARY KEY (process, slice_s, thread, node)
) WITHOUT ROWID;

-- Watches of memory accesses, summed over those that are alike (PieProf 4.2; profiler/watch/watch.h explains the words).
CREATE TABLE watch (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- in which they ended, as in sample
  kind INTEGER NOT NULL,           -- 1: load, 2: store
  outcome INTEGER NOT NULL,        -- 1: redundant, 2: changed, 3: released, 4: evicted, 5: untouched, 6: lost
  memory INTEGER NOT NULL,         -- 0: other, 1: field of an object, 2: data of an array, 3: of what the first call
                                   -- returned, 4: none, the value that the calls returned
  traits INTEGER NOT NULL,         -- sum of 1: the first access lies in a loop of machine code, or is repeated or wide,
                                   -- 2: at least half of the returned data is the same, word by word,
                                   -- 4: the place got the returned array before, if not from its last call
  length INTEGER NOT NULL,         -- what was left of the native call at the access; 0: up to 15 us, 1: up to 30 us,
                                   -- 2: more
  first_node INTEGER NOT NULL,     -- node (process, id) of the first access
  second_node INTEGER NOT NULL,    -- node (process, id) of the second one; 0: there was none
  own_operation INTEGER NOT NULL,  -- of the first node's own_location: 0: other or unknown, 1: a[i], 2: a[i] = x,
                                   -- 3: call, 4: operator, 5: iteration, 6: attribute; plus 16 in a loop of its
                                   -- function's code
  inner_operation INTEGER NOT NULL,-- of the first node's line_location
  watches INTEGER NOT NULL,        -- that ended so
  bytes INTEGER NOT NULL,          -- that their first accesses touched
  weight_ns REAL NOT NULL,         -- CPU time of the first access's line that they stand for
  weight_sq_ns2 REAL NOT NULL,     -- sum of the squares of the single weights
  length_ns INTEGER NOT NULL,      -- what was left of the native calls
  gap_ns INTEGER NOT NULL,         -- from the calls' return to the outcome
  PRIMARY KEY (process, slice_s, kind, first_node, second_node, outcome, memory, traits, length, own_operation,
    inner_operation)
) WITHOUT ROWID;

-- Memory. Bytes are those that the allocator set aside. What a context allocated is known of sampled allocations: each
-- stands for what was allocated since the last sample, those as large as that distance for themselves.
CREATE TABLE allocation (
  process INTEGER NOT NULL REFERENCES process,
  node INTEGER NOT NULL,           -- node (process, id)
  size INTEGER NOT NULL DEFAULT 7, -- of blocks of up to 512 << 2 * size bytes; 7: of larger ones too
  samples INTEGER NOT NULL,        -- allocations that were sampled here
  allocated_python_bytes INTEGER NOT NULL, -- that were ever allocated, by the interpreter's allocators
  allocated_native_bytes INTEGER NOT NULL, -- the same, by native code
  allocated_sq_bytes2 REAL NOT NULL, -- sum of the squared weights of samples that stand for more than themselves
  live_bytes INTEGER NOT NULL,     -- not freed yet
  live_sq_bytes2 REAL NOT NULL DEFAULT 0, -- as allocated_sq_bytes2, of those
  peak_python_bytes INTEGER NOT NULL, -- not freed when the process's memory was at its peak
  peak_native_bytes INTEGER NOT NULL, -- the same, of allocated_native_bytes
  peak_sq_bytes2 REAL NOT NULL,    -- as allocated_sq_bytes2, of those
  live_bytes_s REAL NOT NULL,      -- integral of live_bytes over the process's time, bytes x s
  mallocs INTEGER NOT NULL,        -- sampled allocations that lived for a tenth of the process's time (Scalene 3.4)
  frees INTEGER NOT NULL,          -- of these, those that were freed
  kept_1 INTEGER NOT NULL DEFAULT 0,         -- bytes of those that were not, by when they were allocated: in the first eighth of
  kept_2 INTEGER NOT NULL DEFAULT 0,         -- the time from the process's start to a tenth of it before its end, and so on
  kept_3 INTEGER NOT NULL DEFAULT 0, -- the same of the third
  kept_4 INTEGER NOT NULL DEFAULT 0, -- the same of the fourth
  kept_5 INTEGER NOT NULL DEFAULT 0, -- the same of the fifth
  kept_6 INTEGER NOT NULL DEFAULT 0, -- the same of the sixth
  kept_7 INTEGER NOT NULL DEFAULT 0, -- the same of the seventh
  kept_8 INTEGER NOT NULL DEFAULT 0, -- the same of the last
  first_ns INTEGER NOT NULL,       -- point in time of the first sample
  PRIMARY KEY (process, node, size)
) WITHOUT ROWID;

-- What was allocated, by slice: the sums over all slices are those of allocation.
CREATE TABLE allocated (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- as in sample
  node INTEGER NOT NULL,           -- node (process, id)
  samples INTEGER NOT NULL,        -- allocations that were sampled here
  python_bytes INTEGER NOT NULL,   -- by the interpreter's allocators
  native_bytes INTEGER NOT NULL,   -- by native code
  sq_bytes2 REAL NOT NULL,         -- sum of the squared weights of samples that stand for more than themselves
  PRIMARY KEY (process, slice_s, node)
) WITHOUT ROWID;

-- Curves over time, of at most 100 points each (storage/write/curve.h). Between two points lies a straight line.
CREATE TABLE footprint (
  process INTEGER NOT NULL REFERENCES process,
  t_ns INTEGER NOT NULL,           -- point in time
  python_bytes INTEGER NOT NULL,   -- allocated and not freed
  native_bytes INTEGER NOT NULL,   -- the same of native code
  rss_bytes INTEGER,               -- resident set
  node INTEGER,                    -- node (process, id) whose allocation crossed the threshold; NULL: none did
  PRIMARY KEY (process, t_ns)
) WITHOUT ROWID;

-- Of the lines with most memory, at most 64 in a process.
CREATE TABLE line_footprint (
  process INTEGER NOT NULL REFERENCES process,
  location INTEGER NOT NULL,       -- location (process, id), of several on one line always the same: the innermost one of
                                   -- own code at or above the allocating nodes, or else the innermost; 0: no Python line
  t_ns INTEGER NOT NULL,           -- point in time
  live_bytes INTEGER NOT NULL,     -- allocated and not freed
  PRIMARY KEY (process, location, t_ns)
) WITHOUT ROWID;

-- Counted, not sampled.
CREATE TABLE heap (
  process INTEGER PRIMARY KEY REFERENCES process,
  peak_ns INTEGER,                 -- point in time at which most was allocated; NULL: nothing was
  peak_python_bytes INTEGER NOT NULL, -- at that time
  peak_native_bytes INTEGER NOT NULL, -- the same of native code
  rss_peak_bytes INTEGER,          -- greatest resident set
  allocated_python_bytes INTEGER NOT NULL, -- in all
  allocated_native_bytes INTEGER NOT NULL, -- the same of native code
  freed_python_bytes INTEGER NOT NULL, -- in all
  freed_native_bytes INTEGER NOT NULL, -- the same of native code
  profiler_bytes INTEGER NOT NULL, -- the profiler's own, in none of the others
  threshold_bytes INTEGER NOT NULL, -- of the footprint sampler (Scalene 3.2)
  allocator TEXT,                  -- "glibc", "jemalloc", the path of a library: who serves malloc()
  note TEXT                        -- what is not measured and why
);

CREATE TABLE copy (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- as in sample
  node INTEGER NOT NULL,           -- node (process, id) that called memcpy() or its like
  estimate INTEGER NOT NULL,       -- 1: counted, each copy was seen, 2: sampled by bytes, 3: copy loops of a library's
                                   -- own, by samples of time
  samples INTEGER NOT NULL,        -- copies that were sampled here; counted ones all are
  bytes INTEGER NOT NULL,          -- copied
  sq_bytes2 REAL NOT NULL,         -- sum of the squared weights of samples that stand for more than themselves
  PRIMARY KEY (process, slice_s, node, estimate)
) WITHOUT ROWID;

-- Rows of sample, allocated and copy whose slice is over; "Packed rows" says how they are laid out.
CREATE TABLE packed (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL,        -- as in sample
  kind INTEGER NOT NULL,           -- whose rows they are: 1: sample, 2: allocated, 3: copy
  block INTEGER NOT NULL,          -- of which threads and nodes they are
  rows BLOB NOT NULL,              -- packed
  PRIMARY KEY (process, slice_s, kind, block)
);

CREATE TABLE holder (
  process INTEGER NOT NULL REFERENCES process,
  node INTEGER NOT NULL,           -- node (process, id) that allocated objects which stay
  size INTEGER NOT NULL DEFAULT 7, -- theirs, as in allocation
  text TEXT NOT NULL,              -- what holds them: types, and the way to a module, class or frame
  PRIMARY KEY (process, node, size)
) WITHOUT ROWID;

CREATE TABLE counter (
  process INTEGER NOT NULL REFERENCES process,
  name TEXT NOT NULL,              -- of what happened in the profiler: "samples", "ring_full", …
  value INTEGER NOT NULL,          -- total
  is_drop INTEGER NOT NULL,        -- 1: each count is a lost sample
  PRIMARY KEY (process, name)
) WITHOUT ROWID;

CREATE TABLE overhead (
  process INTEGER NOT NULL REFERENCES process,
  collector TEXT NOT NULL,         -- "time", "memory", "collection thread", …
  cpu_ns INTEGER NOT NULL,         -- CPU time that the collector itself took, in the kernel too
  rate_hz REAL,                    -- at which it sampled
  PRIMARY KEY (process, collector)
) WITHOUT ROWID;

CREATE TABLE source (
  id INTEGER PRIMARY KEY,          -- in the order in which texts were kept
  run INTEGER NOT NULL REFERENCES run,
  path TEXT NOT NULL,              -- file.path
  UNIQUE (run, path)
);

CREATE TABLE source_line (
  source INTEGER NOT NULL REFERENCES source,
  line INTEGER NOT NULL,           -- 1-based
  text TEXT NOT NULL,              -- without the line end
  PRIMARY KEY (source, line)
) WITHOUT ROWID;

-- Loops whose calls are learned (Paikana 3); see learned.sql.
CREATE TABLE learned_loop (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  file TEXT,                       -- as Python says it
  line INTEGER,                    -- of the loop, or the first of the function whose calls are its iterations
  function TEXT,                   -- qualified name of the code that the loop is in
  policy TEXT,                     -- by which it is chosen what is observed: "racing", "successive rejects", …
  confidence REAL,                 -- of decisions and intervals: 0.95
  entries INTEGER NOT NULL,        -- times the loop was entered
  iterations INTEGER NOT NULL,     -- in all entries
  observed_iterations INTEGER NOT NULL, -- of these, those whose calls were timed
  body_s REAL,                     -- wall time in the body, all iterations
  note TEXT,                       -- what could not be seen and why
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE learned_call (
  process INTEGER NOT NULL REFERENCES process,
  loop INTEGER NOT NULL,           -- learned_loop (process, id)
  call INTEGER NOT NULL,           -- call site in the body; 0: the body's own code
  file TEXT,                       -- of the call site
  line INTEGER,                    -- of the call site
  callee TEXT,                     -- qualified name, "module.name" of a native function; NULL for the body's own code
  is_native INTEGER NOT NULL,      -- 0 or 1
  state INTEGER NOT NULL,          -- 1: undecided, 2: dropped, surely less than every other that was left, 3: kept
  decided_after INTEGER,           -- observed iterations until it was decided; NULL: it is not
  calls INTEGER NOT NULL,          -- in all iterations, estimated unless all were observed
  observed_calls INTEGER NOT NULL, -- that were timed
  share REAL,                      -- of the loop's body_s; those of a loop add up to 1
  share_low REAL,                  -- its interval, at the loop's confidence
  share_high REAL,                 -- the interval's upper end
  mean_s REAL,                     -- of one call; NULL, as all below: none was timed
  variance_s2 REAL,                -- of one call; NULL: less than two were timed
  p50_s REAL,                      -- quantiles of one call, within 5 %
  p95_s REAL,                      -- of 95 %
  p99_s REAL,                      -- of 99 %
  PRIMARY KEY (process, loop, call)
) WITHOUT ROWID;
