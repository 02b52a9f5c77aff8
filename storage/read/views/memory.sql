-- SPDX-License-Identifier: Apache-2.0
-- Memory (Scalene 3.2 to 3.5): who allocates, what stays, what is copied. Above the views of time.sql. As there,
-- windows instead of a second GROUP BY let SQLite read the rows of one run only.

-- The conditions of a leak; all figures to tune are here. Memory that comes and goes must not hide memory that stays,
-- so the memory at a time is the least in a stretch of time.
CREATE VIEW x_leak_threshold AS SELECT
  0.95 AS score,           -- the score is greater than this (Scalene 3.4),
  0.05 AS late,            -- of what the line has at the end, this part at least is kept since the last two eighths,
  0.75 AS burst,           -- of what is kept since the last six, two in a row have this part at most: no single event,
  0.1 AS stretch,          -- parts of the process's time: of this length, in which the least counts,
  1 / 3.0 AS heap_from,    -- from here on (stretch behind) the process's memory grew, to the stretch before the end,
  0.01 AS heap_growth;     -- by this part at least of what it has then (Scalene's slope of 1 %)

-- What allocates without a Python line is named: threads of native code by the library that they run, and the
-- interpreter's start. The outermost frame shows which; that of a thread is the C library's.
CREATE VIEW x_nameless AS
SELECT process, node, iif(is_thread, '(native threads', '(before the first line') || coalesce(': ' ||
    substr(name, 1, instr(name || '.so', '.so') - 1), '') || ')' AS place
FROM (
  SELECT a.process, a.node, m.base AS name, coalesce((
      WITH RECURSIVE up (depth, node) AS (
        SELECT 0, a.node
        UNION ALL
        SELECT up.depth + 1, b.parent FROM up JOIN node b ON b.process = a.process AND b.id = up.node
        WHERE b.parent IS NOT NULL AND up.depth < 4096)
      SELECT rm.path GLOB '*/libc.so*' OR rm.path GLOB '*/libc-*' FROM up
      JOIN node b ON b.process = a.process AND b.id = up.node
      JOIN location l ON l.process = a.process AND l.id = b.location
      JOIN function u ON u.process = a.process AND u.id = l.function
      JOIN module rm ON rm.process = a.process AND rm.id = u.module
      ORDER BY up.depth DESC LIMIT 1), 0) AS is_thread
  FROM allocation a JOIN node n ON n.process = a.process AND n.id = a.node
  LEFT JOIN function e ON e.process = a.process AND e.id = n.entry_function
  LEFT JOIN x_module m ON m.process = a.process AND m.id = e.module
  WHERE n.line_location IS NULL);

-- Allocations by (innermost Python place, place in own code that led there). What is averaged over time is divided by
-- the process's own.
CREATE VIEW x_allocation_sum AS
SELECT p.run, a.process, n.line_location, n.own_location, iif(n.line_location IS NULL, (
    SELECT x.place FROM x_nameless x WHERE x.process = a.process AND x.node = a.node), NULL) AS nameless,
  sum(a.samples) AS samples,
  sum(a.allocated_python_bytes + a.allocated_native_bytes) AS allocated_bytes,
  sum(a.allocated_python_bytes) AS allocated_python_bytes, sum(a.allocated_sq_bytes2) AS allocated_sq,
  sum(a.peak_python_bytes + a.peak_native_bytes) AS peak_bytes, sum(a.peak_sq_bytes2) AS peak_sq,
  sum(a.live_bytes) AS live_bytes,
  sum(a.live_bytes_s) * 1e9 / nullif(coalesce(p.ended_ns, p.seen_ns) - p.started_ns, 0) AS average_bytes
FROM process p JOIN allocation a ON a.process = p.id JOIN node n ON n.process = a.process AND n.id = a.node
GROUP BY p.run, a.process, n.line_location, n.own_location, nameless;

-- The same of copies, loops apart.
CREATE VIEW x_copy_sum AS
SELECT p.run, c.process, n.line_location, n.own_location, iif(c.estimate = PIE_COPY_LOOP, PIE_COPY_LOOP, PIE_COPY_COUNTED) AS estimate,
  max(c.estimate & PIE_COPY_LOOP = PIE_COPY_SAMPLED) AS is_sampled, sum(c.samples) AS samples, sum(c.bytes) AS bytes,
  sum(c.bytes) * 1e9 / nullif(coalesce(p.ended_ns, p.seen_ns) - p.started_ns, 0) AS bytes_per_s, sum(c.sq_bytes2) AS sq
FROM process p JOIN copy c ON c.process = p.id JOIN node n ON n.process = c.process AND n.id = c.node
GROUP BY p.run, c.process, n.line_location, n.own_location, iif(c.estimate = PIE_COPY_LOOP, PIE_COPY_LOOP, PIE_COPY_COUNTED);

-- Both, by name; a row has one or the other. estimate: 0 allocations, 1 copies, 3 copy loops.
CREATE VIEW x_memory_place AS
SELECT x.run, x.process, x.estimate, coalesce(f.path, x.nameless) AS file, x.nameless, l.line, u.name AS function, u.first_line,
  iif(f.is_own, NULL, f.library) AS library, iif(f.is_own, NULL, fo.path) AS user_file,
  iif(f.is_own, NULL, o.line) AS user_line, fo.path AS own_file, o.line AS own_line, uo.name AS own_function,
  x.is_sampled, x.samples, x.allocated_bytes, x.allocated_python_bytes, x.allocated_sq, x.peak_bytes, x.peak_sq,
  x.live_bytes, x.average_bytes, x.bytes, x.bytes_per_s, x.sq
FROM (
  SELECT run, process, line_location, own_location, nameless, 0 AS estimate, NULL AS is_sampled, samples, allocated_bytes,
    allocated_python_bytes, allocated_sq, peak_bytes, peak_sq, live_bytes, average_bytes, NULL AS bytes,
    NULL AS bytes_per_s, NULL AS sq
  FROM x_allocation_sum
  UNION ALL
  SELECT run, process, line_location, own_location, NULL, estimate, is_sampled, samples, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL, bytes, bytes_per_s, sq
  FROM x_copy_sum) x
LEFT JOIN place(l, u, f) AT (x.process, x.line_location)
LEFT JOIN place(o, uo, fo) AT (x.process, x.own_location);

-- Allocations by line and by function. A line's function, library and caller are those of the part that allocated most
-- (nth = 1), and that had most at the peak (nth_peak = 1).
CREATE VIEW x_memory_line AS
SELECT 'line' AS subject, run, file, line, function, library, user_file, user_line, nth, nth_peak, all_allocated AS
    allocated_bytes, all_python AS python_bytes, all_sq AS sq, all_peak AS peak_bytes, all_peak_sq AS peak_sq,
  all_live AS live_bytes, all_average AS average_bytes, all_samples AS samples
FROM (
  SELECT *, row_number() OVER (PARTITION BY run, file, line ORDER BY allocated_bytes DESC, own_file, own_line) AS nth,
    row_number() OVER (PARTITION BY run, file, line ORDER BY peak_bytes DESC, own_file, own_line) AS nth_peak,
    sum(allocated_bytes) OVER g AS all_allocated, sum(allocated_python_bytes) OVER g AS all_python,
    sum(allocated_sq) OVER g AS all_sq, sum(peak_bytes) OVER g AS all_peak, sum(peak_sq) OVER g AS all_peak_sq,
    sum(live_bytes) OVER g AS all_live, sum(average_bytes) OVER g AS all_average, sum(samples) OVER g AS all_samples
  FROM x_memory_place WHERE estimate = 0 WINDOW g AS (PARTITION BY run, file, line))
WHERE nth = 1 OR nth_peak = 1
UNION ALL
SELECT 'function', run, file, first_line, function, library, user_file, user_line, nth, nth_peak, all_allocated,
  all_python, all_sq, all_peak, all_peak_sq, all_live, all_average, all_samples
FROM (
  SELECT *,
    row_number() OVER (PARTITION BY run, file, first_line, function ORDER BY allocated_bytes DESC, own_file, own_line)
      AS nth,
    row_number() OVER (PARTITION BY run, file, first_line, function ORDER BY peak_bytes DESC, own_file, own_line)
      AS nth_peak,
    sum(allocated_bytes) OVER g AS all_allocated, sum(allocated_python_bytes) OVER g AS all_python,
    sum(allocated_sq) OVER g AS all_sq, sum(peak_bytes) OVER g AS all_peak, sum(peak_sq) OVER g AS all_peak_sq,
    sum(live_bytes) OVER g AS all_live, sum(average_bytes) OVER g AS all_average, sum(samples) OVER g AS all_samples
  FROM x_memory_place WHERE estimate = 0 WINDOW g AS (PARTITION BY run, file, first_line, function))
WHERE nth = 1 OR nth_peak = 1;

CREATE VIEW x_memory_figures AS
SELECT *, live_bytes AS growth_bytes, python_bytes * 1.0 / nullif(allocated_bytes, 0) AS python_share,
  sum_low(allocated_bytes, sq) AS allocated_low, sum_high(allocated_bytes, sq) AS allocated_high,
  sum_low(peak_bytes, peak_sq) AS peak_low, sum_high(peak_bytes, peak_sq) AS peak_high
FROM x_memory_line;

CREATE VIEW v_memory AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY allocated_bytes DESC, peak_bytes DESC, file, line) AS rank,
  file, line, function, allocated_bytes, peak_bytes, average_bytes, growth_bytes, python_share, samples, library,
  user_file, user_line, allocated_low, allocated_high, peak_low, peak_high
FROM x_memory_figures WHERE subject = 'line' AND nth = 1;

CREATE VIEW v_memory_function AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY allocated_bytes DESC, peak_bytes DESC, file, line, function)
    AS rank,
  file, line, function, allocated_bytes, peak_bytes, average_bytes, growth_bytes, python_share, samples, library,
  user_file, user_line, allocated_low, allocated_high, peak_low, peak_high
FROM x_memory_figures WHERE subject = 'function' AND nth = 1;

-- What is counted at the peaks of the run's processes and is in no sample's weight; less than nothing where chance made
-- these too heavy.
CREATE VIEW x_peak_rest AS
SELECT run, iif(peak_bytes > 0, '(not sampled)', '(too much in samples)') AS place, peak_bytes
FROM (
  SELECT p.run, sum(h.peak_python_bytes + h.peak_native_bytes - coalesce((
      SELECT sum(a.peak_python_bytes + a.peak_native_bytes) FROM allocation a WHERE a.process = p.id), 0)) AS peak_bytes
  FROM process p JOIN heap h ON h.process = p.id GROUP BY p.run);

-- What was alive when the process had most. The rows add up to what was counted then, of all processes of the run.
CREATE VIEW x_peak AS
SELECT *, row_number() OVER (PARTITION BY subject, run ORDER BY peak_bytes DESC, allocated_bytes DESC, file, line, function)
    AS rank
FROM (
  SELECT subject, run, file, line, function, allocated_bytes, peak_bytes, average_bytes, growth_bytes, python_share, samples,
    library, user_file, user_line, allocated_low, allocated_high, peak_low, peak_high
  FROM x_memory_figures WHERE nth_peak = 1 AND peak_bytes > 0
  UNION ALL
  SELECT s.subject, x.run, x.place, NULL, NULL, NULL, x.peak_bytes, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
    NULL
  FROM x_peak_rest x JOIN (SELECT 'line' AS subject UNION ALL SELECT 'function') s WHERE x.peak_bytes <> 0);

CREATE VIEW v_peak AS
SELECT run, rank, file, line, function, allocated_bytes, peak_bytes, average_bytes, growth_bytes, python_share, samples, library,
  user_file, user_line, allocated_low, allocated_high, peak_low, peak_high
FROM x_peak WHERE subject = 'line';

CREATE VIEW v_peak_function AS
SELECT run, rank, file, line, function, allocated_bytes, peak_bytes, average_bytes, growth_bytes, python_share, samples, library,
  user_file, user_line, allocated_low, allocated_high, peak_low, peak_high
FROM x_peak WHERE subject = 'function';

-- Copies by line and by function, loops apart. Counted copies have no part in the interval.
CREATE VIEW x_copy_line AS
SELECT 'line' AS subject, run, estimate, file, line, function, library, user_file, user_line, all_sampled AS is_sampled,
  all_bytes AS bytes, all_bytes_per_s AS bytes_per_s, all_samples AS samples, all_sq AS sq
FROM (
  SELECT *, row_number() OVER (PARTITION BY run, estimate, file, line ORDER BY bytes DESC, own_file, own_line) AS nth,
    max(is_sampled) OVER g AS all_sampled, sum(bytes) OVER g AS all_bytes, sum(bytes_per_s) OVER g AS all_bytes_per_s,
    sum(samples) OVER g AS all_samples, sum(sq) OVER g AS all_sq
  FROM x_memory_place WHERE estimate <> 0 WINDOW g AS (PARTITION BY run, estimate, file, line))
WHERE nth = 1
UNION ALL
SELECT 'function', run, estimate, file, first_line, function, library, user_file, user_line, all_sampled, all_bytes,
  all_bytes_per_s, all_samples, all_sq
FROM (
  SELECT *, row_number() OVER (PARTITION BY run, estimate, file, first_line, function
      ORDER BY bytes DESC, own_file, own_line) AS nth,
    max(is_sampled) OVER g AS all_sampled, sum(bytes) OVER g AS all_bytes, sum(bytes_per_s) OVER g AS all_bytes_per_s,
    sum(samples) OVER g AS all_samples, sum(sq) OVER g AS all_sq
  FROM x_memory_place WHERE estimate <> 0 WINDOW g AS (PARTITION BY run, estimate, file, first_line, function))
WHERE nth = 1;

CREATE VIEW x_copy_figures AS
SELECT subject, run,
  row_number() OVER (PARTITION BY subject, run ORDER BY bytes DESC, file, line, function, estimate) AS rank, file, line,
  function, bytes, bytes_per_s, iif(estimate = PIE_COPY_LOOP, 'loop', iif(is_sampled, 'sampled', 'counted')) AS estimate, samples,
  sum_low(bytes, sq) AS bytes_low, sum_high(bytes, sq) AS bytes_high, library, user_file, user_line
FROM x_copy_line;

CREATE VIEW v_copy AS
SELECT run, rank, file, line, function, bytes, bytes_per_s, estimate, samples, bytes_low, bytes_high, library, user_file,
  user_line
FROM x_copy_figures WHERE subject = 'line';

CREATE VIEW v_copy_function AS
SELECT run, rank, file, line, function, bytes, bytes_per_s, estimate, samples, bytes_low, bytes_high, library, user_file,
  user_line
FROM x_copy_figures WHERE subject = 'function';

-- Whose code a location is: the user's, or a library's. Native code of the interpreter stands between the code of
-- others and is nobody's caller; the C library and code of unknown origin are nobody's at all.
CREATE VIEW x_location_owner AS
SELECT process, location, is_python, iif(name GLOB 'libc.so*' OR name GLOB 'libc-*' OR name GLOB 'ld-*', NULL, name)
    AS name,
  NOT is_python AND name = 'python' AS is_between
FROM (
  SELECT l.process, l.id AS location, u.kind = PIE_LOCATION_PYTHON AS is_python, iif(u.kind = PIE_LOCATION_PYTHON, iif(f.is_own, 'your code', f.library),
      m.name) AS name
  FROM location l JOIN function u ON u.process = l.process AND u.id = l.function
  LEFT JOIN file f ON f.process = u.process AND f.id = u.file
  LEFT JOIN x_module m ON m.process = u.process AND m.id = u.module);

-- The library whose native code copied ("python" where the interpreter did it for Python code), and the next other one
-- on the way outwards, whose code called that.
CREATE VIEW x_copy_owner AS
SELECT m.run, m.process, m.estimate, m.samples, m.bytes, m.bytes * 1e9 / nullif(m.wall_ns, 0) AS bytes_per_s, (
    WITH RECURSIVE up (depth, node, library) AS (
      SELECT 0, n.id, iif(w.is_python, 'python', w.name)
      FROM node n JOIN x_location_owner w ON w.process = n.process AND w.location = n.location
      WHERE n.process = m.process AND n.id = m.node
      UNION ALL
      SELECT up.depth + 1, n.parent, iif(w.is_python, 'python', w.name)
      FROM up JOIN node n ON n.process = m.process AND n.id = up.node
      JOIN node a ON a.process = m.process AND a.id = n.parent
      JOIN x_location_owner w ON w.process = m.process AND w.location = a.location
      WHERE up.library IS NULL AND up.depth < 4096)
    SELECT library FROM up ORDER BY depth DESC LIMIT 1) AS library, (
    WITH RECURSIVE up (depth, node, library, caller) AS (
      SELECT 0, n.id, iif(w.is_python, 'python', w.name), iif(w.is_python, nullif(w.name, 'python'), NULL)
      FROM node n JOIN x_location_owner w ON w.process = n.process AND w.location = n.location
      WHERE n.process = m.process AND n.id = m.node
      UNION ALL
      SELECT up.depth + 1, n.parent, coalesce(up.library, iif(w.is_python, 'python', w.name)),
        CASE
          WHEN up.library IS NULL THEN iif(w.is_python, nullif(w.name, 'python'), NULL)
          WHEN NOT w.is_between THEN nullif(w.name, up.library) END
      FROM up JOIN node n ON n.process = m.process AND n.id = up.node
      JOIN node a ON a.process = m.process AND a.id = n.parent
      JOIN x_location_owner w ON w.process = m.process AND w.location = a.location
      WHERE up.caller IS NULL AND up.depth < 4096)
    SELECT caller FROM up ORDER BY depth DESC LIMIT 1) AS caller
FROM (
  SELECT p.run, c.process, c.node, c.estimate, coalesce(p.ended_ns, p.seen_ns) - p.started_ns AS wall_ns,
    sum(c.samples) AS samples, sum(c.bytes) AS bytes
  FROM process p JOIN copy c ON c.process = p.id
  GROUP BY p.run, c.process, c.node, c.estimate) m;

CREATE VIEW v_copy_pair AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY all_bytes DESC, library, caller, is_loop) AS rank, library, caller,
  all_bytes AS bytes, all_bytes_per_s AS bytes_per_s, all_samples AS samples,
  iif(is_loop, 'loop', iif(all_sampled, 'sampled', 'counted')) AS estimate
FROM (
  SELECT *, row_number() OVER g AS nth, max(estimate = PIE_COPY_SAMPLED) OVER g AS all_sampled, sum(bytes) OVER g AS all_bytes,
    sum(bytes_per_s) OVER g AS all_bytes_per_s, sum(samples) OVER g AS all_samples
  FROM (SELECT *, estimate = PIE_COPY_LOOP AS is_loop FROM x_copy_owner)
  WINDOW g AS (PARTITION BY run, library, caller, is_loop))
WHERE nth = 1;

-- What was measured at all.
CREATE VIEW x_memory_measured AS
SELECT r.id AS run, EXISTS (SELECT 1 FROM process p JOIN heap h ON h.process = p.id WHERE p.run = r.id) AS is_memory,
  EXISTS (SELECT 1 FROM process p JOIN copy c ON c.process = p.id WHERE p.run = r.id)
  OR EXISTS (SELECT 1 FROM process p JOIN overhead o ON o.process = p.id AND o.collector = 'copies' WHERE p.run = r.id)
    AS is_copies
FROM run r;

-- Lines of own code with what they called in libraries.
CREATE VIEW v_own_memory AS
SELECT x.run,
  row_number() OVER (PARTITION BY x.run ORDER BY all_allocated DESC, all_copied DESC, own_file, own_line) AS rank,
  own_file AS file, own_line AS line, own_function AS function,
  iif(t.is_memory, coalesce(all_allocated, 0), NULL) AS allocated_bytes,
  iif(t.is_memory, coalesce(all_peak, 0), NULL) AS peak_bytes,
  iif(t.is_memory, coalesce(all_live, 0), NULL) AS growth_bytes,
  all_python * 1.0 / nullif(all_allocated, 0) AS python_share,
  iif(t.is_copies, coalesce(all_copied, 0), NULL) AS copy_bytes
FROM (
  SELECT *, row_number() OVER (PARTITION BY run, own_file, own_line ORDER BY allocated_bytes DESC, bytes DESC) AS nth,
    sum(allocated_bytes) OVER g AS all_allocated, sum(allocated_python_bytes) OVER g AS all_python,
    sum(peak_bytes) OVER g AS all_peak, sum(live_bytes) OVER g AS all_live, sum(bytes) OVER g AS all_copied
  FROM x_memory_place WINDOW g AS (PARTITION BY run, own_file, own_line)) x
JOIN x_memory_measured t ON t.run = x.run
WHERE nth = 1 AND own_file IS NOT NULL;

-- The process's curve in pieces, with the stretches of time by which leaks are judged. Between two points lies a
-- straight line, behind the last one it stays as it is.
CREATE VIEW x_heap_piece AS
SELECT p.run, c.process, c.t_ns, c.python_bytes + c.native_bytes AS bytes, coalesce(d.t_ns, 9223372036854775807) AS next_ns,
  coalesce(d.python_bytes + d.native_bytes, c.python_bytes + c.native_bytes) - c.python_bytes - c.native_bytes AS step,
  p.started_ns + CAST(s.ns * h.heap_from AS INTEGER) AS from_ns,
  p.started_ns + CAST(s.ns * (h.heap_from + h.stretch) AS INTEGER) AS to_ns,
  p.started_ns + CAST(s.ns * (1 - h.stretch) AS INTEGER) AS late_ns, p.started_ns + s.ns AS end_ns
FROM process p JOIN (SELECT id, coalesce(ended_ns, seen_ns) - started_ns AS ns FROM process) s ON s.id = p.id
JOIN footprint c ON c.process = p.id JOIN x_leak_threshold h
LEFT JOIN footprint d ON d.process = c.process
  AND d.t_ns = (SELECT min(e.t_ns) FROM footprint e WHERE e.process = c.process AND e.t_ns > c.t_ns);

-- The least of the process's memory in the first of those stretches and before its end.
CREATE VIEW x_heap_growth AS
SELECT run, process,
  min(iif(next_ns < late_ns OR t_ns > end_ns, NULL, min(bytes + step * 1.0 * (max(t_ns, late_ns) - t_ns) / (next_ns - t_ns),
    bytes + step * 1.0 * (min(next_ns, end_ns) - t_ns) / (next_ns - t_ns)))) AS end_bytes,
  min(iif(next_ns < from_ns OR t_ns > to_ns, NULL, min(bytes + step * 1.0 * (max(t_ns, from_ns) - t_ns) / (next_ns - t_ns),
    bytes + step * 1.0 * (min(next_ns, to_ns) - t_ns) / (next_ns - t_ns)))) AS from_bytes
FROM x_heap_piece GROUP BY run, process;

-- What each line keeps, by size of block: of own code, or where there is none on the way the innermost. Blocks of one
-- size may stay while those of another come and go. Sizes of which more than the score allows were freed after all are
-- is_freed; of sizes that were kept, by a score of their own, but of which nothing is late any more, is_over.
CREATE VIEW x_kept_size AS
SELECT *, size_mallocs <= size_frees OR size_frees > (1 - t_score) * size_mallocs AS is_freed,
  1 - (size_frees + 1.0) / (size_mallocs - size_frees + 2) > t_score AND size_late < t_late * size_live AS is_over
FROM (
  SELECT x.*, f.path AS file, l.line, u.name AS function, iif(f.is_own, NULL, f.library) AS library, t.score AS t_score,
    t.late AS t_late, sum(x.mallocs) OVER s AS size_mallocs, sum(x.frees) OVER s AS size_frees,
    sum(x.kept_7 + x.kept_8) OVER s AS size_late, sum(x.live_bytes) OVER s AS size_live
  FROM x_leak_threshold t JOIN (
    SELECT p.run, a.process, coalesce(n.own_location, n.line_location) AS place, a.size, sum(a.mallocs) AS mallocs,
      sum(a.frees) AS frees, sum(a.live_bytes) AS live_bytes, sum(a.live_sq_bytes2) AS live_sq,
      sum(a.allocated_python_bytes + a.allocated_native_bytes) AS allocated_bytes,
      sum(a.kept_1 + a.kept_2) AS kept_early, sum(a.kept_3) AS kept_3, sum(a.kept_4) AS kept_4, sum(a.kept_5) AS kept_5,
      sum(a.kept_6) AS kept_6, sum(a.kept_7) AS kept_7, sum(a.kept_8) AS kept_8, min(a.first_ns) AS first_ns
    FROM process p JOIN allocation a ON a.process = p.id JOIN node n ON n.process = a.process AND n.id = a.node
    GROUP BY p.run, a.process, coalesce(n.own_location, n.line_location), a.size) x
  JOIN place(l, u, f) AT (x.process, x.place)
  WINDOW s AS (PARTITION BY x.run, f.path, l.line, x.size));

-- Leaks (Scalene 3.4), by line. Of its allocations those count that lived for a tenth of the process's time, so that
-- its temporaries say nothing; frees of these mallocs were freed after that. Laplace's rule of succession makes the
-- score 1 - (frees + 1) / (mallocs - frees + 2) of them. The score is that of all processes of the run. A line has
-- three rows: of all its sizes (pool 0), of those that are kept (1), of these without what is over (2); sizes has a bit
-- for each. The pairs tell when the line allocated what it keeps: in two eighths of the time in a row
-- (allocation.kept_1 to kept_8).
CREATE VIEW x_leak_line AS
SELECT *, 1 - (all_frees + 1.0) / (all_mallocs - all_frees + 2) AS score
FROM (
  SELECT *, sum(mallocs) OVER g AS all_mallocs, sum(frees) OVER g AS all_frees
  FROM (
    SELECT x.run, x.process, o.pool, x.place, x.file, x.line, x.function, x.library, sum(x.mallocs) OVER g AS mallocs,
      sum(x.frees) OVER g AS frees, sum(x.live_bytes) OVER g AS live_bytes, sum(x.live_sq) OVER g AS live_sq,
      min(x.first_ns) OVER g AS first_ns, sum(x.allocated_bytes) OVER g AS allocated_bytes,
      sum(x.kept_early) OVER g AS early_bytes, sum(x.kept_3 + x.kept_4) OVER g AS pair_3,
      sum(x.kept_4 + x.kept_5) OVER g AS pair_4, sum(x.kept_5 + x.kept_6) OVER g AS pair_5,
      sum(x.kept_6 + x.kept_7) OVER g AS pair_6, sum(x.kept_7 + x.kept_8) OVER g AS pair_7,
      max(x.size = 0) OVER g + 2 * max(x.size = 1) OVER g + 4 * max(x.size = 2) OVER g + 8 * max(x.size = 3) OVER g
        + 16 * max(x.size = 4) OVER g + 32 * max(x.size = 5) OVER g + 64 * max(x.size = 6) OVER g
        + 128 * max(x.size = 7) OVER g AS sizes,
      row_number() OVER (PARTITION BY x.run, x.process, x.file, x.line, o.pool ORDER BY x.live_bytes DESC, x.place, x.size)
        AS nth_place
    FROM x_kept_size x JOIN (SELECT 0 AS pool UNION ALL SELECT 1 UNION ALL SELECT 2) o
      ON o.pool = 0 OR NOT x.is_freed AND (o.pool = 1 OR NOT x.is_over)
    WINDOW g AS (PARTITION BY x.run, x.process, x.file, x.line, o.pool))
  WHERE nth_place = 1
  WINDOW g AS (PARTITION BY run, file, line, pool));

-- A line is a leak if its score is high, if it grew all the time and to the end, and if the process grew with it; the
-- figures are in x_leak_threshold. Sizes that no longer grow are left out if the others are a leak without them: blocks
-- may become larger with time.
CREATE VIEW x_leaking_line AS
SELECT *
FROM (
  SELECT x.*, (coalesce(p.ended_ns, p.seen_ns) - x.first_ns) / 1e9 AS leaking_s,
    row_number() OVER (PARTITION BY x.run, x.process, x.file, x.line ORDER BY x.pool DESC) AS nth_pool
  FROM x_leak_threshold t JOIN x_leak_line x ON x.pool > 0 AND x.score > t.score
  JOIN x_heap_growth h ON h.run = x.run AND h.process = x.process
  JOIN process p ON p.id = x.process
  WHERE x.live_bytes > 0 AND x.pair_7 >= t.late * x.live_bytes
    AND max(x.pair_3, x.pair_4, x.pair_5, x.pair_6, x.pair_7) <= t.burst * (x.pair_3 + x.pair_5 + x.pair_7)
    AND h.end_bytes - coalesce(h.from_bytes, 0) >= t.heap_growth * h.end_bytes)
WHERE nth_pool = 1;

-- Function, library and holder are those of the process in which most has leaked, of the first with a known holder: of
-- objects of the sizes that leak.
CREATE VIEW v_leak AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY rate DESC, leaked_bytes DESC, file, line) AS rank, file, line,
  function, score, all_frees AS frees, all_mallocs AS mallocs, rate AS rate_bytes_per_s, leaked_bytes, holder, library,
  user_file, user_line
FROM (
  SELECT *, NULL AS user_file, NULL AS user_line, sum(live_bytes / nullif(leaking_s, 0)) OVER g AS rate,
    sum(live_bytes) OVER g AS leaked_bytes,
    row_number() OVER (PARTITION BY run, file, line ORDER BY holder IS NULL, live_bytes DESC, process) AS nth_process
  FROM (
    SELECT x.*, (
        SELECT o.text
        FROM holder o JOIN node n ON n.process = o.process AND n.id = o.node
        JOIN location l ON l.process = n.process AND l.id = coalesce(n.own_location, n.line_location)
        JOIN location y ON y.process = x.process AND y.id = x.place
        JOIN function lu ON lu.process = l.process AND lu.id = l.function
        JOIN function yu ON yu.process = y.process AND yu.id = y.function
        LEFT JOIN allocation b ON b.process = o.process AND b.node = o.node AND b.size = o.size
        WHERE o.process = x.process AND l.line = y.line AND lu.file = yu.file AND x.sizes >> o.size & 1
        ORDER BY b.live_bytes DESC, o.node, o.size LIMIT 1) AS holder
    FROM x_leaking_line x)
  WINDOW g AS (PARTITION BY run, file, line))
WHERE nth_process = 1;

-- What grew most: what each line has allocated and not freed, leak or not, with its interval. first_ns is that of each
-- process; a line's rate is the sum of those of its processes.
CREATE VIEW v_growth AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY all_live DESC, all_allocated DESC, file, line) AS rank, file, line,
  function, all_live AS growth_bytes, sum_low(all_live, all_sq) AS growth_low,
  sum_high(all_live, all_sq) AS growth_high, rate AS rate_bytes_per_s, all_kept AS kept_bytes,
  all_allocated AS allocated_bytes, score, library
FROM (
  SELECT x.*, sum(live_bytes) OVER g AS all_live, sum(live_sq) OVER g AS all_sq, sum(early_bytes + pair_3 + pair_5 + pair_7) OVER g AS all_kept,
    sum(allocated_bytes) OVER g AS all_allocated,
    sum(live_bytes * 1e9 / nullif(coalesce(p.ended_ns, p.seen_ns) - x.first_ns, 0)) OVER g AS rate,
    row_number() OVER (PARTITION BY x.run, file, line ORDER BY live_bytes DESC, process) AS nth_process
  FROM x_leak_line x JOIN process p ON p.id = x.process
  WHERE x.pool = 0
  WINDOW g AS (PARTITION BY x.run, file, line))
WHERE nth_process = 1 AND all_live > 0;

-- Curves. The place is that whose allocation crossed the threshold just then.
CREATE VIEW v_memory_timeline AS
SELECT p.run, c.process, p.pid, (c.t_ns - r.started_ns) / 1e9 AS t_s, c.python_bytes + c.native_bytes AS heap_bytes,
  c.python_bytes, c.native_bytes, c.rss_bytes, f.path AS file, l.line
FROM process p JOIN run r ON r.id = p.run JOIN footprint c ON c.process = p.id
LEFT JOIN node n ON n.process = c.process AND n.id = c.node
LEFT JOIN place(l, u, f) AT (n.process, coalesce(n.own_location, n.line_location));

CREATE VIEW v_line_timeline AS
SELECT p.run, c.process, p.pid, f.path AS file, l.line, (c.t_ns - r.started_ns) / 1e9 AS t_s, c.live_bytes
FROM process p JOIN run r ON r.id = p.run JOIN line_footprint c ON c.process = p.id
LEFT JOIN place(l, u, f) AT (c.process, c.location);

CREATE VIEW v_heap AS
SELECT p.run, h.process, p.pid, h.peak_python_bytes + h.peak_native_bytes AS peak_bytes, h.peak_python_bytes,
  h.peak_native_bytes, (h.peak_ns - r.started_ns) / 1e9 AS peak_t_s, h.rss_peak_bytes,
  h.allocated_python_bytes + h.allocated_native_bytes AS allocated_bytes,
  h.freed_python_bytes + h.freed_native_bytes AS freed_bytes, h.profiler_bytes, h.threshold_bytes, h.allocator, h.note
FROM process p JOIN run r ON r.id = p.run JOIN heap h ON h.process = p.id;
