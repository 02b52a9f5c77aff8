-- SPDX-License-Identifier: Apache-2.0
-- Views of time: lines, functions, libraries, threads, processes, runs. Views named v_… are the documented interface,
-- x_… their parts; the reader makes those that a question names as temporary ones (views.c).

-- With the distribution or else the base name, which is found in the last 255 bytes: no name is longer, and rtrim()
-- takes the square of the length.
CREATE VIEW x_module AS
SELECT process, id, path, library, base, coalesce(library, base) AS name
FROM (
  SELECT *, replace(path_end, rtrim(path_end, replace(path_end, '/', '')), '') AS base
  FROM (SELECT *, substr(path, -255) AS path_end FROM module));

-- Of all slices. A reader has a table of this name instead, in which they are added up (node_sample.c).
CREATE VIEW x_node_sample AS
SELECT process, thread, node, samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2
FROM sample;

-- Samples with what was not measured as NULL.
CREATE VIEW x_sample AS
SELECT p.run, s.process, s.node, s.thread, s.samples, s.wait_ns, s.runnable_ns, s.throttled_ns,
  iif(p.clock = 'none', NULL, s.python_ns + s.native_ns + s.system_ns) AS cpu_ns,
  iif(p.clock = 'none', NULL, s.python_ns) AS python_ns,
  iif(p.clock = 'none', NULL, s.native_ns) AS native_ns,
  iif(p.clock = 'none', NULL, s.system_ns) AS system_ns,
  s.cpu_sq_ns2
FROM process p CROSS JOIN x_node_sample s ON s.process = p.id;

-- By kind: 1 the innermost Python line and the line of own code that led there, 2 these and the library whose native
-- code ran (a place's cut shows contexts at other lines in kind 1, not in this one), 3 the native function that is
-- innermost, 4 the thread. A reader has a table of this name instead, which is made in one pass for all questions
-- (place_time.c). Whoever joins it to a process gives the run, too: SQLite then reads no other runs for the view.
CREATE VIEW x_place_time AS
SELECT s.process, k.kind, p.run, iif(k.kind < 3, n.line_location, NULL) AS line_location,
  iif(k.kind < 3, n.own_location, NULL) AS own_location, iif(k.kind = 2, n.library_module, NULL) AS library_module,
  iif(k.kind = 3, u.id, NULL) AS function, iif(k.kind = 4, s.thread, NULL) AS thread, sum(s.samples) AS samples,
  sum(s.python_ns) AS python_ns, sum(s.native_ns) AS native_ns, sum(s.system_ns) AS system_ns,
  sum(s.wait_ns) AS wait_ns, sum(s.runnable_ns) AS runnable_ns, sum(s.throttled_ns) AS throttled_ns,
  sum(s.cpu_sq_ns2) AS cpu_sq_ns2
FROM process p CROSS JOIN x_node_sample s ON s.process = p.id
JOIN (SELECT 1 AS kind UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4) k
LEFT JOIN node n ON n.process = s.process AND n.id = s.node
LEFT JOIN location l ON l.process = n.process AND l.id = n.location
LEFT JOIN function u ON u.process = l.process AND u.id = l.function AND u.kind = PIE_LOCATION_NATIVE
WHERE k.kind = 4 OR (n.id IS NOT NULL AND (k.kind < 3 OR u.id IS NOT NULL))
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;

-- With what was not measured as NULL.
CREATE VIEW x_place_cost AS
SELECT p.run, s.process, s.kind, s.line_location, s.own_location, s.library_module, s.function, s.samples, s.wait_ns,
  s.runnable_ns, s.throttled_ns,
  iif(p.clock = 'none', NULL, s.python_ns + s.native_ns + s.system_ns) AS cpu_ns,
  iif(p.clock = 'none', NULL, s.python_ns) AS python_ns,
  iif(p.clock = 'none', NULL, s.native_ns) AS native_ns,
  iif(p.clock = 'none', NULL, s.system_ns) AS system_ns,
  s.cpu_sq_ns2
FROM process p CROSS JOIN x_place_time s ON s.process = p.id AND s.run = p.run;

-- A reader has a table of this name instead, in which all questions find the sums (process_time.c).
CREATE VIEW x_process_time AS
SELECT process, sum(samples) AS samples, sum(python_ns) AS python_ns, sum(native_ns) AS native_ns,
  sum(system_ns) AS system_ns, sum(wait_ns) AS wait_ns, sum(runnable_ns) AS runnable_ns,
  sum(throttled_ns) AS throttled_ns, sum(cpu_sq_ns2) AS cpu_sq_ns2
FROM x_node_sample GROUP BY process;

-- What shares and intervals are taken of.
CREATE VIEW x_total AS
SELECT p.run, sum(iif(p.clock = 'none', NULL, s.python_ns + s.native_ns + s.system_ns)) AS cpu_ns,
  sum(s.cpu_sq_ns2) AS cpu_sq_ns2
FROM process p CROSS JOIN x_process_time s ON s.process = p.id
GROUP BY p.run;

-- Sums by (innermost Python place, place in own code that led there). Code made from text ("<string>") is own where own
-- code runs it.
CREATE VIEW x_place AS
SELECT s.run, f.path AS file, l.line, u.name AS function, u.first_line, f.is_own AND s.is_run_by_own AS is_own,
  iif(f.is_own AND s.is_run_by_own, NULL, f.library) AS library,
  iif(f.is_own AND s.is_run_by_own, NULL, fo.path) AS user_file,
  iif(f.is_own AND s.is_run_by_own, NULL, o.line) AS user_line,
  s.cpu_ns, s.python_ns, s.native_ns, s.system_ns, s.wait_ns, s.runnable_ns, s.throttled_ns, s.samples, s.cpu_sq_ns2
FROM (
  SELECT *, line_location IS own_location AS is_run_by_own FROM x_place_cost WHERE kind = 1) s
LEFT JOIN place(l, u, f) AT (s.process, s.line_location)
LEFT JOIN place(o, uo, fo) AT (s.process, s.own_location);

-- Sums by (line of own code, library that ran below it). The interpreter's own code is no library here.
CREATE VIEW x_below AS
SELECT s.run, fo.path AS file, o.line, uo.name AS function,
  nullif(coalesce(iif(fl.is_own, NULL, fl.library), m.library), 'python') AS library, sum(s.cpu_ns) AS cpu_ns,
  sum(s.python_ns) AS python_ns, sum(s.native_ns) AS native_ns, sum(s.system_ns) AS system_ns,
  sum(s.wait_ns) AS wait_ns, sum(s.runnable_ns) AS runnable_ns, sum(s.throttled_ns) AS throttled_ns,
  sum(s.samples) AS samples
FROM x_place_cost s
LEFT JOIN place(o, uo, fo) AT (s.process, s.own_location)
LEFT JOIN place(l, ul, fl) AT (s.process, s.line_location)
LEFT JOIN module m ON m.process = s.process AND m.id = s.library_module
WHERE s.kind = 2
GROUP BY s.run, fo.path, o.line, uo.name, nullif(coalesce(iif(fl.is_own, NULL, fl.library), m.library), 'python');

-- Lines of own code with what they called in libraries; library is the costliest of those.
CREATE VIEW x_own_line AS
SELECT x.run, sum_cpu_ns, sum_wait_ns, file, line, function, sum_cpu_ns / 1e9 AS cpu_s, sum_python_ns / 1e9 AS python_s, sum_native_ns / 1e9 AS native_s,
  sum_system_ns / 1e9 AS system_s, sum_wait_ns / 1e9 AS wait_s, sum_runnable_ns / 1e9 AS runnable_s,
  sum_throttled_ns / 1e9 AS throttled_s,
  sum_cpu_ns * 1.0 / nullif(a.cpu_ns, 0) AS cpu_share, sum_samples AS samples, library,
  iif(library IS NULL, NULL, x.cpu_ns / 1e9) AS library_cpu_s
FROM (
  SELECT run, file, line, function, library, cpu_ns,
    lead(1) OVER g AS has_next, sum(cpu_ns) OVER g AS sum_cpu_ns,
    sum(python_ns) OVER g AS sum_python_ns, sum(native_ns) OVER g AS sum_native_ns,
    sum(system_ns) OVER g AS sum_system_ns, sum(wait_ns) OVER g AS sum_wait_ns,
    sum(runnable_ns) OVER g AS sum_runnable_ns, sum(throttled_ns) OVER g AS sum_throttled_ns,
    sum(samples) OVER g AS sum_samples
  FROM x_below
  WINDOW g AS (PARTITION BY run, file, line ORDER BY library IS NOT NULL, cpu_ns, library DESC
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) x
JOIN x_total a ON a.run = x.run
WHERE has_next IS NULL AND file IS NOT NULL;

CREATE VIEW v_own_line AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY sum_cpu_ns DESC, sum_wait_ns DESC, file, line) AS rank,
  file, line, function, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, cpu_share, samples, library,
  library_cpu_s
FROM x_own_line;

CREATE VIEW v_library AS
SELECT x.run, library, sum_cpu_ns / 1e9 AS cpu_s, sum_python_ns / 1e9 AS python_s, sum_native_ns / 1e9 AS native_s,
  sum_system_ns / 1e9 AS system_s, sum_wait_ns / 1e9 AS wait_s, sum_runnable_ns / 1e9 AS runnable_s,
  sum_throttled_ns / 1e9 AS throttled_s, sum_cpu_ns * 1.0 / nullif(a.cpu_ns, 0) AS cpu_share,
  sum_samples AS samples
FROM (
  SELECT run, library, lead(1) OVER g AS has_next, sum(cpu_ns) OVER g AS sum_cpu_ns,
    sum(python_ns) OVER g AS sum_python_ns, sum(native_ns) OVER g AS sum_native_ns,
    sum(system_ns) OVER g AS sum_system_ns, sum(wait_ns) OVER g AS sum_wait_ns,
    sum(runnable_ns) OVER g AS sum_runnable_ns, sum(throttled_ns) OVER g AS sum_throttled_ns,
    sum(samples) OVER g AS sum_samples
  FROM x_below
  WINDOW g AS (PARTITION BY run, library ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) x
JOIN x_total a ON a.run = x.run
WHERE has_next IS NULL AND library IS NOT NULL;

-- By line, and by function. A line's function, library and caller are those of its costliest part, the last one of its
-- window: has_next is NULL. lead() has the window of the sums, where row_number() would take one of its own. nth: the
-- place among those with a file, by what they cost. A reader has tables of these names instead (cost_time.c).
CREATE VIEW x_line_sum AS
SELECT run, file, line, function, library, user_file, user_line, cpu_ns, cpu_sq_ns2,
  iif(file IS NULL, 0, row_number() OVER (PARTITION BY run, file IS NULL
    ORDER BY cpu_ns DESC, wait_ns DESC, file, line, function)) AS nth,
  samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns
FROM (
  SELECT run, file, line, function, library, user_file, user_line, lead(1) OVER g AS has_next,
    sum(cpu_ns) OVER g AS cpu_ns, sum(python_ns) OVER g AS python_ns, sum(native_ns) OVER g AS native_ns,
    sum(system_ns) OVER g AS system_ns, sum(wait_ns) OVER g AS wait_ns, sum(runnable_ns) OVER g AS runnable_ns,
    sum(throttled_ns) OVER g AS throttled_ns, sum(samples) OVER g AS samples, sum(cpu_sq_ns2) OVER g AS cpu_sq_ns2
  FROM x_place
  WINDOW g AS (PARTITION BY run, file, line ORDER BY coalesce(cpu_ns, 0) + wait_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
WHERE has_next IS NULL;

CREATE VIEW x_function_sum AS
SELECT run, file, line, function, library, user_file, user_line, cpu_ns, cpu_sq_ns2,
  iif(file IS NULL, 0, row_number() OVER (PARTITION BY run, file IS NULL
    ORDER BY cpu_ns DESC, wait_ns DESC, file, line, function)) AS nth,
  samples, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns
FROM (
  SELECT run, file, first_line AS line, function, library, user_file, user_line, lead(1) OVER g AS has_next,
    sum(cpu_ns) OVER g AS cpu_ns, sum(python_ns) OVER g AS python_ns, sum(native_ns) OVER g AS native_ns,
    sum(system_ns) OVER g AS system_ns, sum(wait_ns) OVER g AS wait_ns, sum(runnable_ns) OVER g AS runnable_ns,
    sum(throttled_ns) OVER g AS throttled_ns, sum(samples) OVER g AS samples, sum(cpu_sq_ns2) OVER g AS cpu_sq_ns2
  FROM x_place
  WINDOW g AS (PARTITION BY run, file, first_line, function ORDER BY coalesce(cpu_ns, 0) + wait_ns
    ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING))
WHERE has_next IS NULL;

-- Views of their own, since SQLite compiles all that a view names. No level has a column that the next one does not
-- need: to prepare one takes SQLite as long as to find the rows of a small file.
CREATE VIEW x_line_cost AS SELECT s.* FROM run r CROSS JOIN x_line_sum s ON s.run = r.id;

CREATE VIEW x_function_cost AS SELECT s.* FROM run r CROSS JOIN x_function_sum s ON s.run = r.id;

-- By innermost native function.
CREATE VIEW x_native_cost AS
SELECT s.run, f.path AS file, u.first_line AS line, u.name AS function, m.name AS library, m.path AS module,
  sum(s.cpu_ns) AS cpu_ns, sum(s.python_ns) AS python_ns, sum(s.native_ns) AS native_ns,
  sum(s.system_ns) AS system_ns, sum(s.wait_ns) AS wait_ns, sum(s.runnable_ns) AS runnable_ns,
  sum(s.throttled_ns) AS throttled_ns, sum(s.samples) AS samples, sum(s.cpu_sq_ns2) AS cpu_sq_ns2
FROM x_place_cost s JOIN function u ON u.process = s.process AND u.id = s.function
LEFT JOIN x_module m ON m.process = u.process AND m.id = u.module
LEFT JOIN file f ON f.process = u.process AND f.id = u.file
WHERE s.kind = 3
GROUP BY s.run, u.name, m.path, f.path, u.first_line;

-- By the line that ran, of native code that has debug information; of other code by function.
CREATE VIEW x_native_line_cost AS
SELECT s.run, f.path AS file, l.line, u.name AS function, m.name AS library, m.path AS module,
  sum(s.cpu_ns) AS cpu_ns, sum(s.python_ns) AS python_ns, sum(s.native_ns) AS native_ns, sum(s.system_ns) AS system_ns,
  sum(s.wait_ns) AS wait_ns, sum(s.runnable_ns) AS runnable_ns, sum(s.throttled_ns) AS throttled_ns,
  sum(s.samples) AS samples, sum(s.cpu_sq_ns2) AS cpu_sq_ns2
FROM x_sample s JOIN node n ON n.process = s.process AND n.id = s.node
JOIN location l ON l.process = n.process AND l.id = n.location
JOIN function u ON u.process = l.process AND u.id = l.function AND u.kind = PIE_LOCATION_NATIVE
LEFT JOIN x_module m ON m.process = u.process AND m.id = u.module
LEFT JOIN file f ON f.process = u.process AND f.id = u.file
GROUP BY s.run, f.path, l.line, u.name, m.path;

-- With shares and intervals. x of T nanoseconds is the share p. The samples weigh differently (one that saw a long
-- stay in the kernel weighs more), so the variance of p is that of a ratio estimator,
-- v = (q (1-p)^2 + (Q-q) p^2) / T^2, where q and Q sum the squared weights of the line and of the run (Cochran,
-- Sampling Techniques, 6.4). n = p (1-p) / v samples of equal weight would have this variance, and Wilson's score
-- interval for p out of n holds for few samples too: shared() in sql-macros.sed.
CREATE VIEW x_line_own_share AS
shared(x_line_cost: nth, file, line, function, library, user_file, user_line);

CREATE VIEW x_function_share AS
shared(x_function_cost: nth, file, line, function, library, user_file, user_line);

CREATE VIEW x_native_share AS
shared(x_native_cost: function, library, module, file, line);

CREATE VIEW x_native_line_share AS
shared(x_native_line_cost: file, line, function, library, module);

-- With their rank in the run. A question gives one of its own to the rows that it leaves.
CREATE VIEW v_function AS
ranked(x_function_share: file, line, function, library, user_file, user_line);

CREATE VIEW v_native AS
ranked(x_native_share: function, library, module, file, line);

CREATE VIEW v_native_line AS
ranked(x_native_line_share: file, line, function, library, module);

-- With threads that were never sampled. The thread's own sums are of all its time, also of slices that are not kept.
-- Windows, as below: "run = …" reaches both parts of the inner query.
CREATE VIEW x_thread AS
SELECT x.run, x.process, x.thread, iif(p.clock = 'none', NULL, x.python_ns + x.native_ns + x.system_ns) AS cpu_ns,
  iif(p.clock = 'none', NULL, x.python_ns) AS python_ns, iif(p.clock = 'none', NULL, x.native_ns) AS native_ns,
  iif(p.clock = 'none', NULL, x.system_ns) AS system_ns,
  iif(p.forgotten_s > 0, x.wait_ns, coalesce(t.wait_ns, x.wait_ns)) AS wait_ns,
  iif(p.forgotten_s > 0, x.runnable_ns, t.runnable_ns) AS runnable_ns,
  iif(p.forgotten_s > 0, x.throttled_ns, t.throttled_ns) AS throttled_ns
FROM (
  SELECT run, process, thread, row_number() OVER g AS nth, sum(python_ns) OVER g AS python_ns,
    sum(native_ns) OVER g AS native_ns, sum(system_ns) OVER g AS system_ns, sum(wait_ns) OVER g AS wait_ns,
    sum(runnable_ns) OVER g AS runnable_ns, sum(throttled_ns) OVER g AS throttled_ns
  FROM (
    SELECT p.run, s.process, s.thread, s.python_ns, s.native_ns, s.system_ns, s.wait_ns, s.runnable_ns, s.throttled_ns
    FROM process p CROSS JOIN x_place_time s ON s.process = p.id AND s.run = p.run AND s.kind = 4
    UNION ALL
    SELECT p.run, t.process, t.id, 0, 0, 0, 0, 0, 0 FROM process p JOIN thread t ON t.process = p.id)
  WINDOW g AS (PARTITION BY run, process, thread)) x
JOIN thread t ON t.process = x.process AND t.id = x.thread JOIN process p ON p.id = x.process
WHERE x.nth = 1;

CREATE VIEW v_thread AS
SELECT x.run, x.process, p.pid, x.thread, t.tid, t.name, t.is_main,
  strftime('%Y-%m-%dT%H:%M:%fZ', t.started_ns / 1e9, 'unixepoch') AS started, t.wall_ns / 1e9 AS wall_s,
  x.cpu_ns / 1e9 AS cpu_s, x.python_ns / 1e9 AS python_s, x.native_ns / 1e9 AS native_s,
  x.system_ns / 1e9 AS system_s, x.wait_ns / 1e9 AS wait_s, x.runnable_ns / 1e9 AS runnable_s,
  x.throttled_ns / 1e9 AS throttled_s,
  x.cpu_ns * 1.0 / nullif(a.cpu_ns, 0) AS cpu_share,
  t.cpu_ns / 1e9 AS clock_cpu_s, -- by the thread's own CPU clock: the truth that the samples are held against
  t.samples,
  t.threads -- that the row stands for: short ones share one, with thread 0
FROM x_thread x JOIN thread t ON t.process = x.process AND t.id = x.thread JOIN process p ON p.id = x.process
LEFT JOIN x_total a ON a.run = x.run;

CREATE VIEW x_depth AS
WITH RECURSIVE tree(process, depth) AS (
  SELECT id, 0 FROM process WHERE parent IS NULL OR parent NOT IN (SELECT id FROM process)
  UNION ALL
  SELECT p.id, t.depth + 1 FROM tree t JOIN process p ON p.parent = t.process)
SELECT process, depth FROM tree;

-- Time off the CPU is the sum of the threads': what they waited before they were looked at is in no context.
CREATE VIEW x_process_off AS
SELECT run, process, sum(wait_ns) AS wait_ns, sum(runnable_ns) AS runnable_ns, sum(throttled_ns) AS throttled_ns
FROM x_thread
GROUP BY run, process;

-- depth: 0 for a process that no profiled one started. wall_s: of what is kept, as all figures but memory's.
CREATE VIEW v_process AS
SELECT x.run, x.process, p.parent, d.depth, p.host, p.pid, p.parent_pid,
  strftime('%Y-%m-%dT%H:%M:%fZ', p.started_ns / 1e9, 'unixepoch') AS started,
  (coalesce(p.ended_ns, p.seen_ns) - p.started_ns) / 1e9 - p.forgotten_s AS wall_s, x.cpu_ns / 1e9 AS cpu_s,
  x.python_ns / 1e9 AS python_s, x.native_ns / 1e9 AS native_s, x.system_ns / 1e9 AS system_s,
  x.wait_ns / 1e9 AS wait_s, x.runnable_ns / 1e9 AS runnable_s, x.throttled_ns / 1e9 AS throttled_s,
  x.cpu_ns * 1.0 / nullif(sum(x.cpu_ns) OVER (PARTITION BY x.run), 0) AS cpu_share,
  x.samples, x.threads, p.cause, p.exit_status, p.executable,
  iif(json_valid(p.argv), coalesce((SELECT group_concat(value, ' ') FROM json_each(p.argv)), '(standard input)'), p.argv)
    AS command,
  p.clock, p.clock_note,
  p.period_ns / 1e9 AS period_s, p.sampler, p.sampler_note,
  h.peak_python_bytes + h.peak_native_bytes AS peak_bytes, h.rss_peak_bytes
FROM (
  SELECT y.run, y.process, y.threads, coalesce(y.samples, 0) AS samples, coalesce(o.wait_ns, 0) AS wait_ns,
    coalesce(o.runnable_ns, 0) AS runnable_ns, coalesce(o.throttled_ns, 0) AS throttled_ns,
    iif(y.is_measured, coalesce(y.python_ns, 0), NULL) AS python_ns,
    iif(y.is_measured, coalesce(y.native_ns, 0), NULL) AS native_ns,
    iif(y.is_measured, coalesce(y.system_ns, 0), NULL) AS system_ns,
    iif(y.is_measured, coalesce(y.python_ns + y.native_ns + y.system_ns, 0), NULL) AS cpu_ns
  FROM (
    SELECT z.*, z.clock <> 'none' AND NOT (z.threads = 0 AND z.cause IN ('killed', 'gone')) AS is_measured
    FROM (
      SELECT p.run, p.id AS process, p.clock, coalesce(p.cause, '') AS cause, sum(s.python_ns) AS python_ns,
        sum(s.native_ns) AS native_ns, sum(s.system_ns) AS system_ns, sum(s.samples) AS samples,
        (SELECT coalesce(sum(t.threads), 0) FROM thread t WHERE t.process = p.id) AS threads
      FROM process p LEFT JOIN x_process_time s ON s.process = p.id
      GROUP BY p.run, p.id) z) y
  LEFT JOIN x_process_off o ON o.run = y.run AND o.process = y.process) x
JOIN process p ON p.id = x.process LEFT JOIN heap h ON h.process = x.process
LEFT JOIN x_depth d ON d.process = x.process;

-- Share of the program's own CPU time, which the overhead comes on top of. Where slices are not kept, by the threads'
-- clocks.
CREATE VIEW x_all_cpu AS
SELECT p.run, max(p.forgotten_s) > 0 AS is_cut,
  (SELECT sum(t.cpu_ns) FROM process q JOIN thread t ON t.process = q.id WHERE q.run = p.run) AS clock_ns,
  (SELECT total(t.cpu_ns) FROM process q JOIN thread t ON t.process = q.id WHERE q.run = p.run AND t.samples = 0)
    AS unsampled_ns
FROM process p GROUP BY p.run;

CREATE VIEW v_overhead AS
SELECT p.run, o.collector, r.overhead_budget AS budget_share,
  sum(o.cpu_ns) * 1.0 / nullif(coalesce(iif(c.is_cut, NULL, nullif(max(a.cpu_ns), 0)) + c.unsampled_ns, c.clock_ns), 0)
    AS measured_share,
  max(o.rate_hz) AS rate,
  iif(o.collector = 'time', (SELECT sum(c.value) FROM process q JOIN counter c ON c.process = q.id
    WHERE q.run = p.run AND c.is_drop), NULL) AS drops,
  sum(o.cpu_ns) / 1e9 AS cpu_s
FROM process p JOIN overhead o ON o.process = p.id JOIN run r ON r.id = p.run JOIN x_all_cpu c ON c.run = p.run
LEFT JOIN x_total a ON a.run = p.run
GROUP BY p.run, o.collector;

CREATE VIEW v_drop AS
SELECT p.run, p.id AS process, p.pid, c.name AS counter, c.value AS drops
FROM process p JOIN counter c ON c.process = p.id WHERE c.is_drop;

-- The command, the clock, the sampler and the end are those of the first process; memory is that of the process that
-- had most.
CREATE VIEW v_run AS
SELECT v.run, strftime('%Y-%m-%dT%H:%M:%fZ', r.started_ns / 1e9, 'unixepoch') AS started, v.command, v.wall_s,
  v.sum_cpu_s AS cpu_s, v.sum_python_s AS python_s, v.sum_native_s AS native_s, v.sum_system_s AS system_s,
  v.sum_wait_s AS wait_s, v.sum_runnable_s AS runnable_s, v.sum_throttled_s AS throttled_s, v.sum_samples AS samples,
  v.processes, v.sum_threads AS threads, v.cause, v.exit_status,
  v.clock, v.clock_note, v.period_s, v.sampler, v.sampler_note,
  v.overhead_ns / 1e9 AS overhead_s,
  v.overhead_ns / 1e9 /
    nullif(coalesce(iif(c.is_cut, NULL, nullif(v.sum_cpu_s, 0)) + c.unsampled_ns / 1e9, c.clock_ns / 1e9), 0)
    AS overhead_share,
  (SELECT sum(d.drops) FROM v_drop d WHERE d.run = v.run) AS drops,
  (SELECT e.value FROM environment e WHERE e.run = v.run AND e.key = 'python_version') AS python_version,
  r.pieprof_version, v.max_peak_bytes AS peak_bytes, v.max_rss_peak_bytes AS rss_peak_bytes
FROM (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY process) AS nth, count(*) OVER g AS processes,
    sum(cpu_s) OVER g AS sum_cpu_s, sum(python_s) OVER g AS sum_python_s, sum(native_s) OVER g AS sum_native_s,
    sum(system_s) OVER g AS sum_system_s, sum(wait_s) OVER g AS sum_wait_s, sum(runnable_s) OVER g AS sum_runnable_s,
    sum(throttled_s) OVER g AS sum_throttled_s, sum(samples) OVER g AS sum_samples,
    sum(threads) OVER g AS sum_threads, max(peak_bytes) OVER g AS max_peak_bytes,
    max(rss_peak_bytes) OVER g AS max_rss_peak_bytes,
    (SELECT sum(o.cpu_ns) FROM process p JOIN overhead o ON o.process = p.id WHERE p.run = x.run) AS overhead_ns
  FROM v_process x WINDOW g AS (PARTITION BY run)) v
JOIN run r ON r.id = v.run JOIN x_all_cpu c ON c.run = v.run
WHERE v.nth = 1;

CREATE VIEW v_environment AS SELECT run, key, value FROM environment;

CREATE VIEW v_source AS
SELECT s.run, s.path AS file, l.line, l.text FROM source s JOIN source_line l ON l.source = s.id;

PRAGMA application_id = 1349084496; -- "PieP"
PRAGMA user_version = 8;
