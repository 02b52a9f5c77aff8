-- SPDX-License-Identifier: Apache-2.0
-- The file. One file holds many runs, a run many processes. All measurements of a process are keyed by (process, id),
-- with ids that the process chose. So processes write without asking each other, and a merge of files only renumbers
-- processes. Times are integers in nanoseconds; points in time are CLOCK_REALTIME. NULL means unknown or not measured,
-- never 0.
--
-- A file has only tables. The views of its reader (time.sql and so on) give them their meaning. A column that is added
-- later has a default: rows of older files get it when they are copied, and older programs write it.

CREATE TABLE run (
  id INTEGER PRIMARY KEY,          -- in the order in which runs were appended
  started_ns INTEGER NOT NULL,     -- start, a point in time
  pieprof_version TEXT NOT NULL,   -- version of the program that wrote the run
  overhead_budget REAL,            -- share of the program's time that the profiler was allowed to use; 0.05 = 5 %
  identity TEXT NOT NULL UNIQUE    -- identity of the run: the same in all files that its processes wrote; merging joins
                                   -- runs by it
);

CREATE TABLE process (
  id INTEGER PRIMARY KEY,          -- in the order in which processes began to write
  run INTEGER NOT NULL REFERENCES run,
  parent INTEGER REFERENCES process, -- the profiled process that started it
  pid INTEGER NOT NULL,            -- process id on its host
  parent_pid INTEGER,              -- pid of the process that started it, profiled or not
  started_ns INTEGER NOT NULL,     -- start, a point in time
  seen_ns INTEGER NOT NULL,        -- point in time of the last flush
  ended_ns INTEGER,                -- end, a point in time; NULL: not known
  cause TEXT,                      -- how it ended: "exit", "_exit", "exec" (it became another program), "seccomp" (it
                                   -- set a filter and ran on without a profile), "signal" (its last act was to write),
                                   -- "killed" (its parent got the status), "gone" (no process saw how); NULL: it still
                                   -- runs, or no process was left to record it
  exit_status INTEGER,             -- exit status as the shell reports it
  argv TEXT,                       -- command line, a JSON array; NULL: not kept
  executable TEXT,                 -- sys.executable
  clock TEXT NOT NULL,             -- clock that sampled CPU time: "perf", "perf-user", "timer", "itimer", "none"
  clock_note TEXT,                 -- why there is no better clock
  period_ns INTEGER,               -- that was asked for, of CPU time; the budget may stretch it to five times as much
                                   -- on average
  sampler TEXT NOT NULL,           -- sampler of memory accesses: "pmu" (weighted by accesses), "taskclock" (weighted by
                                   -- time), "none"
  sampler_note TEXT,               -- why there is no better sampler
  host TEXT,                       -- name of the machine on which the pid is valid
  slice_width_s INTEGER NOT NULL DEFAULT 0, -- length of its time slices: 1, 2, 4, …; 0: all in one
  forgotten_s INTEGER NOT NULL DEFAULT 0 -- start of the first slice that is kept (--keep)
);
CREATE INDEX process_run ON process (run);

CREATE TABLE environment (
  run INTEGER NOT NULL REFERENCES run,
  key TEXT NOT NULL,               -- "python_version", "cpu", "package:numpy", …; a unit is part of the key
  value TEXT,                      -- NULL: could not be determined
  PRIMARY KEY (run, key)
) WITHOUT ROWID;

CREATE TABLE thread (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on; 0: see threads
  tid INTEGER,                     -- the kernel's thread id
  name TEXT,                       -- name in Python's threading, or else the kernel's
  is_main INTEGER NOT NULL,        -- 0 or 1
  started_ns INTEGER,              -- start, a point in time
  ended_ns INTEGER,                -- end, a point in time; NULL: not seen to end
  cpu_ns INTEGER,                  -- CPU time since its start, by the thread's own clock
  wall_ns INTEGER,                 -- from its start to its end or last flush
  wait_ns INTEGER,                 -- time off the CPU, as in sample; wall_ns is the sum of it, the next two and cpu_ns
  runnable_ns INTEGER,             -- time ready to run, as in sample
  throttled_ns INTEGER,            -- time throttled, as in sample
  samples INTEGER,                 -- samples taken
  threads INTEGER NOT NULL DEFAULT 1, -- threads that the row represents: 1; in the row with id 0, all threads that
                                   -- ended before they had a clock, within a millisecond or so: times are sums,
                                   -- started_ns is the first one's
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE module (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  path TEXT NOT NULL,              -- path of the ELF file
  build_id TEXT,                   -- build id, hexadecimal
  library TEXT,                    -- distribution of the module; "python": the interpreter
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE file (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  path TEXT NOT NULL,              -- path, absolute or as Python gives it ("<string>", "<frozen …>")
  is_own INTEGER NOT NULL,         -- 1: the user's own code
  library TEXT,                    -- distribution of the file; "python": the standard library
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE function (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  kind INTEGER NOT NULL,           -- 1: Python, 2: native
  name TEXT,                       -- qualified name, or demangled symbol
  file INTEGER,                    -- file (process, id) of its source
  first_line INTEGER,              -- first line, 1-based
  module INTEGER,                  -- module (process, id); native code only
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE location (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  function INTEGER NOT NULL,       -- function (process, id)
  line INTEGER,                    -- line, 1-based
  caller INTEGER,                  -- location (process, id) of the function that this one was inlined into
  address INTEGER,                 -- virtual address in the module; native code only
  is_in_loop INTEGER,              -- Python: a call of the line lies in a loop of its function; of a line without
                                   -- calls: any part of it does
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
                                   -- below line_location that is outside the interpreter's home (profiler/base/home.h):
                                   -- the function that the interpreter called
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

-- Time slices. Sums are kept by slice of the process's time: seconds from process.started_ns on, a multiple of
-- process.slice_width_s. There are at most 256; when there would be more, each two neighbours become one. The sum over
-- all slices is that of the process.
CREATE TABLE sample (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- start of the slice of the samples
  node INTEGER NOT NULL,           -- node (process, id)
  thread INTEGER NOT NULL,         -- thread (process, id)
  samples INTEGER NOT NULL,        -- samples taken in this context
  wait_samples INTEGER NOT NULL,   -- ticks at which the thread was off the CPU here
  python_ns INTEGER NOT NULL,      -- CPU time in the interpreter
  native_ns INTEGER NOT NULL,      -- CPU time in native code
  system_ns INTEGER NOT NULL,      -- CPU time in the kernel
  wait_ns INTEGER NOT NULL,        -- time off the CPU by its own doing: asleep, or waiting
  runnable_ns INTEGER NOT NULL DEFAULT 0, -- time ready to run without a processor
  throttled_ns INTEGER NOT NULL DEFAULT 0, -- time throttled by a CPU quota (cgroup)
  cpu_sq_ns2 REAL NOT NULL,        -- sum of the squared CPU weights of the samples
  PRIMARY KEY (process, slice_s, thread, node)
) WITHOUT ROWID;

-- Why threads waited. For a thread and a node the sum of wait_ns is that of sample, as long as no slices are forgotten
-- (--keep).
CREATE TABLE wait (
  process INTEGER NOT NULL REFERENCES process,
  thread INTEGER NOT NULL,         -- thread (process, id)
  node INTEGER NOT NULL,           -- node (process, id), as in sample
  cause INTEGER NOT NULL,          -- what for: 0: not known, 1: the GIL, 2: another lock, 3: a socket, 4: a pipe, 5: a
                                   -- file or device, 6: a terminal, 7: several descriptors or an event loop's, 8: a
                                   -- time (sleep), 9: a child process, 10: a GPU, 11: a disk, 12: a signal, 13: other
  resource TEXT NOT NULL,          -- path, address or system call; "(other)": one of too many; empty: not known
  peer INTEGER NOT NULL,           -- node (process, id) in which the thread that held the lock was seen last; 0: not
                                   -- known
  holds_gil INTEGER NOT NULL,      -- 1: the thread held the GIL meanwhile
  wait_ns INTEGER NOT NULL,        -- time off the CPU, as in sample
  looks INTEGER NOT NULL,          -- ticks at which the thread was found so
  is_rest INTEGER NOT NULL DEFAULT 0, -- 1: in each slice the thread waited in the node for this cause what sample has
                                   -- and related does not. 0 in all rows of a node: its causes by slice are not known
  PRIMARY KEY (process, thread, node, cause, resource, peer, holds_gil)
) WITHOUT ROWID;

-- What tasks of asyncio waited, a part of wait, by their names, and their CPU time, a part of sample. The sum of
-- wait_ns of a thread and a node is that of wait.
CREATE TABLE task (
  process INTEGER NOT NULL REFERENCES process,
  thread INTEGER NOT NULL,         -- thread (process, id)
  node INTEGER NOT NULL,           -- node (process, id), as in sample
  coroutine INTEGER NOT NULL,      -- node (process, id) at or above it at which the tasks' own coroutine begins; 0: not
                                   -- known
  cause INTEGER NOT NULL,          -- as in wait; -1: none, the row is of CPU time
  name TEXT NOT NULL,              -- that the program gave the tasks; "(other)": one of too many; empty: none
  wait_ns INTEGER NOT NULL,        -- time off the CPU, as in sample
  cpu_ns INTEGER NOT NULL DEFAULT 0, -- CPU time of steps of these tasks, in the interpreter, native code and the kernel
  PRIMARY KEY (process, thread, node, coroutine, cause, name)
) WITHOUT ROWID;

-- Times that belong to a context beside those of sample.
CREATE TABLE related (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- slice of the time, as in sample
  thread INTEGER NOT NULL,         -- thread (process, id)
  node INTEGER NOT NULL,           -- node (process, id), as in sample
  kind INTEGER NOT NULL,           -- 1: CPU time of threads without Python frames while this thread waited for native
                                   -- code here, or ran code of the same library: sample has it at their own nodes; 2,
                                   -- 3, 4: CPU time here while the interpreter collected garbage of generation 0, 1,
                                   -- 2: a part of the CPU time of sample; 16 and more: 16 plus the cause of wait that
                                   -- the thread waited for here in the slice, unless wait.is_rest says so of the cause
  time_ns INTEGER NOT NULL,        -- the time
  PRIMARY KEY (process, slice_s, thread, node, kind)
) WITHOUT ROWID;

-- Watches of memory accesses, summed over equal ones (PieProf 4.2; profiler/watch/watch.h explains the terms).
CREATE TABLE watch (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- slice in which the watches ended, as in sample
  kind INTEGER NOT NULL,           -- 1: load, 2: store
  outcome INTEGER NOT NULL,        -- 1: redundant, 2: changed, 3: released, 4: evicted, 5: untouched, 6: lost
  memory INTEGER NOT NULL,         -- memory that was accessed: 0: other, 1: field of an object, 2: data of an array, 3:
                                   -- data that the first call returned, 4: none, the value that the calls returned, 5:
                                   -- none, the arguments of the calls, with what they returned if that can be read
  traits INTEGER NOT NULL,         -- sum of 1: the first access lies in a loop of machine code, or is repeated or wide,
                                   -- 2: at least half of the returned data is the same, word by word, 4: the place got
                                   -- the returned value before by the same arguments, but not from its last call, 8: it
                                   -- got it for the first time, 16: the arguments could be compared, 32: they were
                                   -- others, though what was returned is the same, 64: a load in a loop over the
                                   -- data of the only array that the call got as an argument, 128: a store: an equal
                                   -- value is no evidence, as it was equal at the place before, 256: it is a new one
                                   -- there, of which several are evidence, 512: it is the call of a line of own code,
                                   -- for which Python code was at work, 1024: … that of a Python function of own
                                   -- code, 2048: of long arguments a part was looked at, and the result cannot be read
  length INTEGER NOT NULL,         -- rest of the native call after the access; 0: up to 15 us, 1: up to 30 us, 2:
                                   -- longer
  first_node INTEGER NOT NULL,     -- node (process, id) of the first access
  second_node INTEGER NOT NULL,    -- node (process, id) of the second access; 0: there was none
  own_operation INTEGER NOT NULL,  -- operation of the first node's own_location: 0: other or unknown, 1: a[i], 2: a[i]
                                   -- = x, 3: call, 4: operator, 5: iteration, 6: attribute; plus 16 in a loop of its
                                   -- function's code
  inner_operation INTEGER NOT NULL, -- operation of the first node's line_location
  watches INTEGER NOT NULL,        -- watches with this outcome
  bytes INTEGER NOT NULL,          -- bytes that their first accesses touched
  weight_ns REAL NOT NULL,         -- CPU time of the first access's line that the watches represent
  weight_sq_ns2 REAL NOT NULL,     -- sum of the squares of the single weights
  length_ns INTEGER NOT NULL,      -- rest of the native calls after the accesses
  gap_ns INTEGER NOT NULL,         -- from the calls' return to the outcome
  array_bytes INTEGER DEFAULT 0,   -- traits 64: bytes of those arrays' data
  round_ns INTEGER DEFAULT 0,      -- traits 64: the program's CPU time on the thread from the accesses to the outcome
  PRIMARY KEY (process, slice_s, kind, first_node, second_node, outcome, memory, traits, length, own_operation,
    inner_operation)
) WITHOUT ROWID;

-- What was read by calls of a line that samples of time met at work: a list or tuple that is searched, the longest
-- argument, or what the interpreter's own types do. Kinds 7 to 11 are not compared: rises are samples that tell of the
-- waste, others those that tell against it.
CREATE TABLE reading (
  process INTEGER NOT NULL REFERENCES process,
  node INTEGER NOT NULL,           -- node (process, id) of the line
  kind INTEGER NOT NULL,           -- 1: a list or tuple is searched for an item, 2: the longest argument, 3: a list
                                   -- that its sort() sorts, 4: a list or tuple that + copies, 5: min(), max() or
                                   -- sorted() of a list or set, 6: text and the pattern that is searched in it, 7:
                                   -- islice(), 8: struct unpacks, 9: a csv.reader() is made, 10: a loop that folds
                                   -- elements, 11: a loop that sets them
  samples INTEGER NOT NULL,        -- samples of such calls; kind 3: samples in a row count as one
  cpu_ns INTEGER NOT NULL,         -- CPU time that they stand for
  cpu_sq_ns2 REAL NOT NULL,        -- sum of the squares of the samples' times
  same INTEGER NOT NULL,           -- samples that met what the one before there had met, as long as it was then
  rises INTEGER NOT NULL,          -- samples that met one that began the same and was longer; kinds 2 and 3: with the
                                   -- same other arguments; kind 5: the same with some other items; 6: with another
                                   -- pattern
  others INTEGER NOT NULL,         -- samples that met another one
  lower_ns INTEGER NOT NULL,       -- while one rose to four times its length at least: CPU time of the samples up to
                                   -- half of its last length; kinds 7 to 11: of others; 5: of rises where the list
                                   -- had only become longer
  upper_ns INTEGER NOT NULL,       -- … and from there on; kinds 7 to 11: of rises; 5: of the other rises
  sum_size INTEGER NOT NULL,       -- lengths of all samples; kinds 1, 5 and 7: items, 10: rounds, else bytes
  max_size INTEGER NOT NULL,       -- the greatest of them
  PRIMARY KEY (process, node, kind)
) WITHOUT ROWID;

-- Memory. Bytes are those that the allocator set aside. The bytes of a context come from sampled allocations. Each
-- represents the bytes allocated since the last sample; one as large as that distance represents itself.
CREATE TABLE allocation (
  process INTEGER NOT NULL REFERENCES process,
  node INTEGER NOT NULL,           -- node (process, id) that allocated
  size INTEGER NOT NULL DEFAULT 7, -- blocks of up to 512 << 2 * size bytes; 7: larger ones too
  samples INTEGER NOT NULL,        -- allocations that were sampled here
  allocated_python_bytes INTEGER NOT NULL, -- bytes ever allocated by the interpreter's allocators
  allocated_native_bytes INTEGER NOT NULL, -- bytes ever allocated by native code
  allocated_sq_bytes2 REAL NOT NULL, -- sum of the squared weights of samples that represent more than themselves
  live_bytes INTEGER NOT NULL,     -- bytes not freed yet
  live_sq_bytes2 REAL NOT NULL DEFAULT 0, -- as allocated_sq_bytes2, of live_bytes
  peak_python_bytes INTEGER NOT NULL, -- bytes of the interpreter's allocators that were live when the process's memory
                                   -- was at its peak
  peak_native_bytes INTEGER NOT NULL, -- bytes of native code that were live then
  peak_sq_bytes2 REAL NOT NULL,    -- as allocated_sq_bytes2, of both
  live_bytes_s REAL NOT NULL,      -- integral of live_bytes over the process's time, bytes x s
  mallocs INTEGER NOT NULL,        -- sampled allocations that lived for a tenth of the process's time (Scalene 3.4)
  frees INTEGER NOT NULL,          -- the part of mallocs that was freed
  kept_1 INTEGER NOT NULL DEFAULT 0, -- bytes of mallocs that were not freed and were allocated in the first eighth of
                                   -- the time from the process's start to a tenth of it before its end
  kept_2 INTEGER NOT NULL DEFAULT 0, -- the same of the second eighth
  kept_3 INTEGER NOT NULL DEFAULT 0, -- the same of the third
  kept_4 INTEGER NOT NULL DEFAULT 0, -- the same of the fourth
  kept_5 INTEGER NOT NULL DEFAULT 0, -- the same of the fifth
  kept_6 INTEGER NOT NULL DEFAULT 0, -- the same of the sixth
  kept_7 INTEGER NOT NULL DEFAULT 0, -- the same of the seventh
  kept_8 INTEGER NOT NULL DEFAULT 0, -- the same of the last
  first_ns INTEGER NOT NULL,       -- point in time of the first sample
  blocks REAL DEFAULT 0,           -- allocations that the samples represent: the sum of weight / size of block
  rises INTEGER DEFAULT 0,         -- samples whose block was larger than that of the sample before, by less than an
                                   -- eighth
  falls INTEGER DEFAULT 0,         -- samples whose block was smaller, or larger by more
  PRIMARY KEY (process, node, size)
) WITHOUT ROWID;

-- Allocated bytes by slice: the sums over all slices are those of allocation.
CREATE TABLE allocated (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- as in sample
  node INTEGER NOT NULL,           -- node (process, id)
  samples INTEGER NOT NULL,        -- allocations that were sampled here
  python_bytes INTEGER NOT NULL,   -- bytes allocated by the interpreter's allocators
  native_bytes INTEGER NOT NULL,   -- bytes allocated by native code
  sq_bytes2 REAL NOT NULL,         -- sum of the squared weights of samples that represent more than themselves
  PRIMARY KEY (process, slice_s, node)
) WITHOUT ROWID;

-- Curves over time, of at most 100 points each (storage/write/curve.h). Between two points, the curve is a straight
-- line.
CREATE TABLE footprint (
  process INTEGER NOT NULL REFERENCES process,
  t_ns INTEGER NOT NULL,           -- point in time
  python_bytes INTEGER NOT NULL,   -- live bytes of the interpreter's allocators
  native_bytes INTEGER NOT NULL,   -- live bytes of native code
  rss_bytes INTEGER,               -- resident set size
  node INTEGER,                    -- node (process, id) whose allocation crossed the threshold; NULL: none did
  PRIMARY KEY (process, t_ns)
) WITHOUT ROWID;

-- The same for the lines with most memory, at most 64 in a process.
CREATE TABLE line_footprint (
  process INTEGER NOT NULL REFERENCES process,
  location INTEGER NOT NULL,       -- location (process, id), the same for all nodes of a line: the innermost one of own
                                   -- code at or above the allocating nodes, or else the innermost; 0: no Python line
  t_ns INTEGER NOT NULL,           -- point in time
  live_bytes INTEGER NOT NULL,     -- live bytes
  PRIMARY KEY (process, location, t_ns)
) WITHOUT ROWID;

-- Totals of a process, counted and not sampled.
CREATE TABLE heap (
  process INTEGER PRIMARY KEY REFERENCES process,
  peak_ns INTEGER,                 -- point in time of the peak; NULL: nothing was allocated
  peak_python_bytes INTEGER NOT NULL, -- live bytes of the interpreter's allocators at that time
  peak_native_bytes INTEGER NOT NULL, -- live bytes of native code at that time
  rss_peak_bytes INTEGER,          -- largest resident set
  allocated_python_bytes INTEGER NOT NULL, -- bytes allocated by the interpreter's allocators, in all
  allocated_native_bytes INTEGER NOT NULL, -- bytes allocated by native code, in all
  freed_python_bytes INTEGER NOT NULL, -- bytes freed of the interpreter's allocators, in all
  freed_native_bytes INTEGER NOT NULL, -- bytes freed of native code, in all
  profiler_bytes INTEGER NOT NULL, -- the profiler's own bytes, which the others exclude
  threshold_bytes INTEGER NOT NULL, -- threshold of the footprint sampler (Scalene 3.2)
  allocator TEXT,                  -- allocator behind malloc(): "glibc", "jemalloc", or the path of a library
  note TEXT                        -- what is not measured, and why
);

CREATE TABLE copy (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL DEFAULT 0, -- as in sample
  node INTEGER NOT NULL,           -- node (process, id) that called memcpy() or a similar function
  estimate INTEGER NOT NULL,       -- 1: counted, each copy was seen, 2: sampled by bytes, 3: a library's own copy
                                   -- loops, by time samples; 5, 6: as 1 and 2, of large blocks that were moved by
                                   -- less than a sixteenth of their length
  samples INTEGER NOT NULL,        -- copies that were sampled here; all of the counted ones
  bytes INTEGER NOT NULL,          -- bytes copied
  sq_bytes2 REAL NOT NULL,         -- sum of the squared weights of samples that stand for more than themselves
  PRIMARY KEY (process, slice_s, node, estimate)
) WITHOUT ROWID;

-- Large copies by memcpy() and its like that were followed until their source or they were freed.
CREATE TABLE copy_end (
  process INTEGER NOT NULL REFERENCES process,
  node INTEGER NOT NULL,           -- node (process, id), as in copy
  outcome INTEGER NOT NULL,        -- 1: neither was written until then, 2: one was, 3: neither was, but the copy is a
                                   -- part of a larger block or outlived its larger source, 4: both are equal, but no
                                   -- debug register was there all the time, 5: not known, 6: both are equal, but a
                                   -- debug register saw a write
  copies INTEGER NOT NULL,         -- that were followed
  bytes INTEGER NOT NULL,          -- bytes copied that they stand for
  PRIMARY KEY (process, node, outcome)
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
  node INTEGER NOT NULL,           -- node (process, id) that allocated retained objects
  size INTEGER NOT NULL DEFAULT 7, -- theirs, as in allocation
  text TEXT NOT NULL,              -- what holds them: types, and the way to a module, class or frame
  PRIMARY KEY (process, node, size)
) WITHOUT ROWID;

CREATE TABLE counter (
  process INTEGER NOT NULL REFERENCES process,
  name TEXT NOT NULL,              -- event in the profiler: "samples", "ring_full", …
  value INTEGER NOT NULL,          -- number of events
  is_drop INTEGER NOT NULL,        -- 1: each count is a lost sample
  PRIMARY KEY (process, name)
) WITHOUT ROWID;

CREATE TABLE overhead (
  process INTEGER NOT NULL REFERENCES process,
  collector TEXT NOT NULL,         -- "time", "memory", "collection thread", …
  cpu_ns INTEGER NOT NULL,         -- CPU time of the collector itself, including the kernel
  rate_hz REAL,                    -- the sampling rate that was asked for
  PRIMARY KEY (process, collector)
) WITHOUT ROWID;

-- The same by slices of the time.
CREATE TABLE spent (
  process INTEGER NOT NULL REFERENCES process,
  slice_s INTEGER NOT NULL,        -- as in sample
  collector TEXT NOT NULL,         -- as in overhead
  cpu_ns INTEGER NOT NULL,         -- CPU time of the collector in the slice
  PRIMARY KEY (process, slice_s, collector)
) WITHOUT ROWID;

CREATE TABLE source (
  id INTEGER PRIMARY KEY,          -- in the order in which texts were stored
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

-- Traced loops (Paikana 3); see traced.sql.
CREATE TABLE learned_loop (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,             -- chosen by the process, from 1 on
  file TEXT,                       -- file, as Python gives it
  line INTEGER,                    -- line of the loop, or the first line of the function whose calls are its iterations
  function TEXT,                   -- qualified name of the code that contains the loop
  policy TEXT,                     -- policy that chooses the calls to observe: "racing", "successive rejects", …
  confidence REAL,                 -- confidence of decisions and intervals: 0.95
  entries INTEGER NOT NULL,        -- number of times the loop was entered
  iterations INTEGER NOT NULL,     -- iterations in all entries
  observed_iterations INTEGER NOT NULL, -- iterations whose calls were timed
  body_s REAL,                     -- wall time in the body, all iterations
  note TEXT,                       -- what could not be seen, and why
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE learned_call (
  process INTEGER NOT NULL REFERENCES process,
  loop INTEGER NOT NULL,           -- learned_loop (process, id)
  call INTEGER NOT NULL,           -- call site in the body; 0: the body's own code
  file TEXT,                       -- file of the call site
  line INTEGER,                    -- line of the call site
  callee TEXT,                     -- qualified name, "module.name" of a native function; NULL for the body's own code
  is_native INTEGER NOT NULL,      -- 0 or 1
  state INTEGER NOT NULL,          -- 1: undecided, 2: dropped, surely less than every other that was left, 3: kept
  decided_after INTEGER,           -- observed iterations until the decision; NULL: undecided
  calls INTEGER NOT NULL,          -- calls in all iterations, estimated unless all were observed
  observed_calls INTEGER NOT NULL, -- calls that were timed
  share REAL,                      -- share of the loop's body_s; the shares of a loop add up to 1
  share_low REAL,                  -- lower end of its interval, at the loop's confidence
  share_high REAL,                 -- upper end of its interval
  mean_s REAL,                     -- mean time of one call; NULL, as all below: none was timed
  variance_s2 REAL,                -- variance of one call; NULL: fewer than two were timed
  p50_s REAL,                      -- median of one call, within 5 %
  p95_s REAL,                      -- quantile of 95 %
  p99_s REAL,                      -- quantile of 99 %
  PRIMARY KEY (process, loop, call)
) WITHOUT ROWID;

-- What a second run counted at a line (pieprof confirm): every call, every element access and operator on objects. A
-- line has one row with an empty callee, and one for each callee. The process is the first of the profiled run.
CREATE TABLE counted (
  process INTEGER NOT NULL REFERENCES process,
  file TEXT NOT NULL,              -- file.path
  line INTEGER NOT NULL,           -- 1-based
  callee TEXT NOT NULL,            -- "numpy.cos", "a[i] of list", "str + str"; empty: the row of the line itself
  is_item INTEGER,                 -- 1: access to an element: a[i], a[i] = x, iteration; 0: call or operator
  is_whole INTEGER,                -- 1: all of them in the second run's first process; 0: some were not counted
  has_more INTEGER,                -- 1: there were more distinct arguments or results than are held apart
  calls INTEGER,                   -- that ended
  raised INTEGER,                  -- of them by an exception
  compared INTEGER,                -- whose arguments were all compared by value
  distinct_args INTEGER,           -- distinct arguments
  distinct_results INTEGER,        -- distinct results
  again INTEGER,                   -- calls with the arguments and the result of an earlier one
  alike INTEGER,                   -- calls with the arguments of an earlier one and maybe its result: some value was
                                   -- only known by identity, or the result is None
  singles INTEGER,                 -- calls with single numbers only, accesses to single elements
  call_ns INTEGER,                 -- CPU time of the calls, without that of counting; of a call within another one of
                                   -- the line only once
  again_ns INTEGER,                -- the same of those in again
  alike_ns INTEGER,                -- the same of those in alike
  single_ns INTEGER,               -- the same of those in singles
  run_ns INTEGER,                  -- CPU time of the second run, with that of counting
  bulk_ns INTEGER,                 -- the same of operators and ufuncs on arrays of 64 elements or more
  grew INTEGER,                    -- calls whose arguments were larger than those of the call before
  arg_bytes INTEGER,               -- size of text, buffers and containers among the arguments, of all calls together
  PRIMARY KEY (process, file, line, callee)
) WITHOUT ROWID;

-- What the profiled run itself counted at a line, in windows of some milliseconds drawn at random (profiler/windows): a
-- part of its calls, element accesses and operators on objects. Totals of all windows.
CREATE TABLE windowed (
  process INTEGER NOT NULL REFERENCES process,
  file TEXT NOT NULL,              -- file.path
  line INTEGER NOT NULL,           -- 1-based
  callee TEXT NOT NULL,            -- as in counted
  is_item INTEGER NOT NULL,        -- 1: access to an element, as in counted; 0: call or operator
  is_in_loop INTEGER NOT NULL,     -- 1: the line is in a loop of its function, for most of its samples
  calls INTEGER NOT NULL,          -- that ended within a window
  raised INTEGER NOT NULL,         -- of them by an exception
  compared INTEGER NOT NULL,       -- whose arguments were all compared by value
  distinct_args INTEGER NOT NULL,  -- distinct arguments
  distinct_results INTEGER NOT NULL, -- distinct results
  once INTEGER NOT NULL,           -- of distinct_args: those that were met once
  twice INTEGER NOT NULL,          -- of distinct_args: those that were met twice
  again INTEGER NOT NULL,          -- calls with the arguments and the result of an earlier one, of the same window or
                                   -- of one before
  alike INTEGER NOT NULL,          -- as in counted
  same INTEGER NOT NULL,           -- of again and alike: with the arguments of the call before
  singles INTEGER NOT NULL,        -- as in counted
  grew INTEGER NOT NULL,           -- as in counted
  arg_bytes INTEGER NOT NULL,      -- as in counted
  call_ns INTEGER NOT NULL,        -- CPU time of the calls, as in counted
  again_ns INTEGER NOT NULL,       -- the same of those in again
  alike_ns INTEGER NOT NULL,       -- the same of those in alike
  single_ns INTEGER NOT NULL,      -- the same of those in singles
  bulk_ns INTEGER NOT NULL,        -- the same of operators and ufuncs on arrays of 64 elements or more
  PRIMARY KEY (process, file, line, callee)
) WITHOUT ROWID;

-- The same of calls at lines of own code that lead to hot lines: those of a function's callers. Such lines are counted
-- in windows of their own, in which hot lines are not.
CREATE TABLE called (
  process INTEGER NOT NULL REFERENCES process,
  file TEXT NOT NULL,              -- file.path
  line INTEGER NOT NULL,           -- 1-based
  callee TEXT NOT NULL,            -- as in counted
  function TEXT NOT NULL,          -- name of the function that has the line,
  function_line INTEGER NOT NULL,  -- and where it begins
  is_in_loop INTEGER NOT NULL,     -- as in windowed
  calls INTEGER NOT NULL,          -- as in windowed, as are those up to alike_ns
  raised INTEGER NOT NULL,         -- of them by an exception
  compared INTEGER NOT NULL,       -- whose arguments were all compared by value
  distinct_args INTEGER NOT NULL,  -- distinct arguments
  distinct_results INTEGER NOT NULL, -- distinct results
  once INTEGER NOT NULL,           -- of distinct_args: those that were met once
  twice INTEGER NOT NULL,          -- of distinct_args: those that were met twice
  again INTEGER NOT NULL,          -- with the arguments and the result of an earlier one; the result is no number from
                                   -- -255 to 255, truth value or the like, which come again by chance
  alike INTEGER NOT NULL,          -- with the same arguments as an earlier one, but not all values are known
  same INTEGER NOT NULL,           -- of again and alike: with the arguments of the call before
  call_ns INTEGER NOT NULL,        -- CPU time of the calls, without that of counting
  again_ns INTEGER NOT NULL,       -- the same of those in again
  alike_ns INTEGER NOT NULL,       -- the same of those in alike
  line_ns INTEGER NOT NULL,        -- CPU time of the main thread's samples in the line, with all that it calls
  function_ns INTEGER NOT NULL,    -- the same of its function
  PRIMARY KEY (process, file, line, callee, function_line)
) WITHOUT ROWID;

-- Calls in windowed that go through the items of a built-in list, tuple, text or bytes one after the other.
CREATE TABLE passed (
  process INTEGER NOT NULL REFERENCES process,
  file TEXT NOT NULL,              -- file.path
  line INTEGER NOT NULL,           -- 1-based
  callee TEXT NOT NULL,            -- as in counted
  kind INTEGER NOT NULL,           -- 1: a search (in, index, count, remove); 2: a slice that is copied; 3: items that
                                   -- move, since one before them is added or removed; 4: text that eval(), exec() or
                                   -- compile() makes code of; 5: lists of numbers that a library makes arrays of;
                                   -- 6: an array that a product reads, though 98 % of it is zero; 7: the bytes of
                                   -- one number, of which int.from_bytes() or struct.unpack() makes it; 8: an array
                                   -- that is solved or factored, though 94 % of it is zero; 9: a list of arrays that
                                   -- another library takes number by number; 10: items of which min() or
                                   -- max() takes one
  is_in_loop INTEGER NOT NULL,     -- as in windowed
  calls INTEGER NOT NULL,          -- such calls
  items INTEGER NOT NULL,          -- that they went through, all together; at most, where a search finds something
  carried INTEGER NOT NULL,        -- calls that met the list of one of the calls just before, of about the same length,
                                   -- or a slice that the call before had made; 4 and 5: text or lists of any call
                                   -- before; 6 to 9: all; 10: the container of one of the calls just before, of
                                   -- which some items have changed, and not all
  call_ns INTEGER NOT NULL,        -- CPU time of the calls, without that of counting
  line_ns INTEGER NOT NULL,        -- CPU time of the main thread's samples in the line, with all but own code below it
  PRIMARY KEY (process, file, line, callee)
) WITHOUT ROWID;
