-- SPDX-License-Identifier: Apache-2.0
-- A run by slices of time. Each process has slices of its own, which begin with it; those of the run are as long as the
-- longest of them, and so long that there are at most 256. A slice of a process belongs to that of the run in which it
-- begins.

-- started_ns: of the first one that is kept. DISTINCT: else SQLite would look for the width again for each row that it
-- is joined to.
CREATE VIEW x_slice_width AS
SELECT DISTINCT z.run, z.started_ns, z.seen_ns, (
    WITH RECURSIVE power (width_s) AS (SELECT 1 UNION ALL SELECT 2 * width_s FROM power WHERE width_s < 1 << 40)
    SELECT min(width_s) FROM power WHERE width_s >= z.width_s AND 256 * width_s * 1000000000 >= z.seen_ns - z.started_ns
  ) AS width_s
FROM (
  SELECT run, min(started_ns + forgotten_s * 1000000000) AS started_ns, max(coalesce(ended_ns, seen_ns)) AS seen_ns,
    max(slice_width_s) AS width_s
  FROM process
  GROUP BY run) z
WHERE z.width_s > 0;

-- All that is sliced, by line of own code. begin_s: since the begin of the run's first slice.
CREATE VIEW x_sliced AS
SELECT p.run, (p.started_ns + s.slice_s * 1000000000 - w.started_ns) / 1000000000 AS begin_s, s.process, n.own_location AS place,
  sum(iif(p.clock = 'none', NULL, s.python_ns)) AS python_ns, sum(iif(p.clock = 'none', NULL, s.native_ns)) AS native_ns,
  sum(iif(p.clock = 'none', NULL, s.system_ns)) AS system_ns, sum(s.wait_ns) AS wait_ns,
  sum(s.runnable_ns) AS runnable_ns, sum(s.throttled_ns) AS throttled_ns, sum(s.samples) AS samples,
  0 AS allocated_bytes, 0 AS copy_bytes, 0 AS gc_ns
FROM process p JOIN x_slice_width w ON w.run = p.run JOIN sample s ON s.process = p.id
LEFT JOIN node n ON n.process = s.process AND n.id = s.node
GROUP BY p.run, s.process, s.slice_s, n.own_location
UNION ALL
SELECT p.run, (p.started_ns + a.slice_s * 1000000000 - w.started_ns) / 1000000000, a.process, NULL, 0, 0, 0, 0, 0, 0, 0,
  sum(a.python_bytes + a.native_bytes), 0, 0
FROM process p JOIN x_slice_width w ON w.run = p.run JOIN allocated a ON a.process = p.id
GROUP BY p.run, a.process, a.slice_s
UNION ALL
SELECT p.run, (p.started_ns + c.slice_s * 1000000000 - w.started_ns) / 1000000000, c.process, NULL, 0, 0, 0, 0, 0, 0, 0, 0,
  sum(c.bytes), 0
FROM process p JOIN x_slice_width w ON w.run = p.run JOIN copy c ON c.process = p.id
GROUP BY p.run, c.process, c.slice_s
UNION ALL
SELECT p.run, (p.started_ns + g.slice_s * 1000000000 - w.started_ns) / 1000000000, g.process, NULL, 0, 0, 0, 0, 0, 0, 0, 0,
  0, sum(g.time_ns)
FROM process p JOIN x_slice_width w ON w.run = p.run JOIN related g ON g.process = p.id
  AND g.kind IN (PIE_RELATED_GC_YOUNG, PIE_RELATED_GC_MIDDLE, PIE_RELATED_GC_OLD)
GROUP BY p.run, g.process, g.slice_s;

-- file and line: the line of own code with most CPU time in the slice.
CREATE VIEW v_slice AS
SELECT x.run, x.slice, strftime('%Y-%m-%dT%H:%M:%fZ', (x.started_ns + x.begin_s * 1000000000) / 1e9, 'unixepoch') AS started,
  x.begin_s * 1.0 AS t_s, max(0, min(x.width_s, (x.seen_ns - x.started_ns) / 1e9 - x.begin_s)) AS wall_s,
  (x.python_ns + x.native_ns + x.system_ns) / 1e9 AS cpu_s, x.python_ns / 1e9 AS python_s, x.native_ns / 1e9 AS native_s,
  x.system_ns / 1e9 AS system_s, x.wait_ns / 1e9 AS wait_s, x.runnable_ns / 1e9 AS runnable_s,
  x.throttled_ns / 1e9 AS throttled_s, x.gc_ns / 1e9 AS gc_s, x.samples, x.allocated_bytes, x.copy_bytes,
  iif(x.place_ns > 0, f.path, NULL) AS file,
  iif(x.place_ns > 0, l.line, NULL) AS line
FROM (
  SELECT run, slice, started_ns, seen_ns, width_s, (slice - 1) * width_s AS begin_s, process, place, place_ns,
    row_number() OVER (PARTITION BY run, slice ORDER BY place IS NULL, place_ns DESC, process, place) AS nth,
    sum(python_ns) OVER g AS python_ns, sum(native_ns) OVER g AS native_ns, sum(system_ns) OVER g AS system_ns,
    sum(wait_ns) OVER g AS wait_ns, sum(runnable_ns) OVER g AS runnable_ns, sum(throttled_ns) OVER g AS throttled_ns,
    sum(gc_ns) OVER g AS gc_ns, sum(samples) OVER g AS samples, sum(allocated_bytes) OVER g AS allocated_bytes, sum(copy_bytes) OVER g AS copy_bytes
  FROM (
    SELECT s.*, s.begin_s / w.width_s + 1 AS slice, w.started_ns, w.seen_ns, w.width_s,
      sum(s.python_ns + s.native_ns + s.system_ns) OVER (PARTITION BY s.run, s.begin_s / w.width_s, s.process, s.place)
        AS place_ns
    FROM x_sliced s JOIN x_slice_width w ON w.run = s.run)
  WINDOW g AS (PARTITION BY run, slice)) x
LEFT JOIN place(l, u, f) AT (x.process, x.place)
WHERE x.nth = 1;

-- What profiling cost, by slice. Collectors that stand for one thing are one column.
CREATE VIEW x_spent AS
SELECT p.run, (p.started_ns + s.slice_s * 1000000000 - w.started_ns) / 1000000000 / w.width_s + 1 AS slice,
  sum(s.cpu_ns) AS all_ns, sum(iif(s.collector IN ('time', 'switches'), s.cpu_ns, 0)) AS time_ns,
  sum(iif(s.collector = 'redundancy', s.cpu_ns, 0)) AS redundancy_ns,
  sum(iif(s.collector = 'memory', s.cpu_ns, 0)) AS memory_ns, sum(iif(s.collector = 'counting', s.cpu_ns, 0)) AS counting_ns,
  sum(iif(s.collector = 'copies', s.cpu_ns, 0)) AS copies_ns, sum(iif(s.collector = 'caches', s.cpu_ns, 0)) AS caches_ns,
  sum(iif(s.collector IN ('collection thread', 'writing', 'clocks', 'end'), s.cpu_ns, 0)) AS collection_ns
FROM process p JOIN x_slice_width w ON w.run = p.run JOIN spent s ON s.process = p.id
GROUP BY 1, 2;

CREATE VIEW v_overhead_slice AS
SELECT x.run, x.slice, v.t_s, v.cpu_s, x.all_ns / 1e9 AS overhead_s, x.all_ns / 1e9 / nullif(v.cpu_s, 0) AS overhead_share,
  r.overhead_budget AS budget_share, v.samples / nullif(v.cpu_s, 0) AS samples_per_s, x.time_ns / 1e9 AS time_s,
  x.redundancy_ns / 1e9 AS redundancy_s, x.memory_ns / 1e9 AS memory_s, x.counting_ns / 1e9 AS counting_s,
  x.copies_ns / 1e9 AS copies_s, x.caches_ns / 1e9 AS caches_s, x.collection_ns / 1e9 AS collection_s
FROM x_spent x JOIN run r ON r.id = x.run LEFT JOIN v_slice v ON v.run = x.run AND v.slice = x.slice;
