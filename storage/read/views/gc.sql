-- SPDX-License-Identifier: Apache-2.0
-- Time of garbage collection, by the line that was at work when it began: the native code below gc_collect_main(), to
-- which functions inlined into it belong. Above the views of time.sql.

CREATE VIEW x_gc_location AS
WITH RECURSIVE gc(process, location) AS (
  SELECT l.process, l.id FROM function u JOIN location l ON l.process = u.process AND l.function = u.id
  WHERE u.kind = PIE_LOCATION_NATIVE AND u.name = 'gc_collect_main'
  UNION
  SELECT l.process, l.id FROM gc g JOIN location l ON l.process = g.process AND l.caller = g.location)
SELECT process, location FROM gc;

-- By generation; NULL where none is known, as in files that have no such rows.
CREATE VIEW x_gc_generation AS
SELECT process, thread, node, sum(iif(kind = PIE_RELATED_GC_YOUNG, time_ns, 0)) AS ns_0,
  sum(iif(kind = PIE_RELATED_GC_MIDDLE, time_ns, 0)) AS ns_1, sum(iif(kind = PIE_RELATED_GC_OLD, time_ns, 0)) AS ns_2
FROM related WHERE kind IN (PIE_RELATED_GC_YOUNG, PIE_RELATED_GC_MIDDLE, PIE_RELATED_GC_OLD)
GROUP BY process, thread, node;

-- What Python code the collector calls is that code's own. (From the top down, by an index that SQLite makes of the
-- children.)
CREATE VIEW x_gc_node AS
WITH RECURSIVE child AS MATERIALIZED (
  SELECT process, parent, id, location, line_location FROM node WHERE process IN (SELECT process FROM x_gc_location)),
gc (process, node, line_location) AS (
  SELECT process, id, line_location FROM child
  WHERE (process, location) IN (SELECT process, location FROM x_gc_location)
  UNION
  SELECT c.process, c.id, c.line_location
  FROM gc g JOIN child c ON c.process = g.process AND c.parent = g.node AND c.line_location IS g.line_location)
SELECT process, node FROM gc
UNION ALL
-- A stripped interpreter has no name for gc_collect_main() and the functions below it: there the generation decides.
SELECT process, node FROM x_gc_generation JOIN node n USING (process) JOIN location l USING (process)
JOIN function u USING (process)
WHERE n.id = node AND l.id = n.location AND u.id = l.function AND u.kind = PIE_LOCATION_NATIVE AND u.name IS NULL
  AND process NOT IN (SELECT process FROM x_gc_location);

-- By line of own code, or of a library where there is none. LEFT JOIN: SQLite would else begin with the places, and add
-- up all samples for each.
CREATE VIEW v_gc AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY x.cpu_ns DESC, file, line) AS rank, file, line, function,
  x.cpu_ns / 1e9 AS gc_s, ns_0 / 1e9 AS gc_0_s, ns_1 / 1e9 AS gc_1_s, ns_2 / 1e9 AS gc_2_s,
  x.cpu_ns * 1.0 / nullif(a.cpu_ns, 0) AS cpu_share, samples, library
FROM (
  SELECT s.run, f.path AS file, l.line, u.name AS function, iif(f.is_own, NULL, f.library) AS library,
    sum(s.cpu_ns) AS cpu_ns, sum(s.samples) AS samples, sum(s.ns_0) AS ns_0, sum(s.ns_1) AS ns_1, sum(s.ns_2) AS ns_2
  FROM (
    SELECT x.run, x.process, coalesce(n.own_location, n.line_location) AS place, x.cpu_ns, x.samples, g.ns_0, g.ns_1,
      g.ns_2
    FROM x_sample x CROSS JOIN node n ON n.process = x.process AND n.id = x.node
    LEFT JOIN x_gc_generation g ON g.process = x.process AND g.thread = x.thread AND g.node = x.node
    WHERE (x.process, x.node) IN (SELECT process, node FROM x_gc_node)) s
  LEFT JOIN place(l, u, f) AT (s.process, s.place)
  GROUP BY s.run, f.path, l.line, u.name
  HAVING count(f.path) > 0) x
JOIN x_total a ON a.run = x.run
WHERE x.cpu_ns > 0;
