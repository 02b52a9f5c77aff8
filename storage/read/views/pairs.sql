-- SPDX-License-Identifier: Apache-2.0
-- Pairs of redundant accesses with both call paths. Above the views of time.sql, watches.sql and findings.sql.

-- Pairs of accesses: sums of those with the same two contexts. What is wasted is the CPU time that the telling
-- redundant ones stand for.
CREATE VIEW x_pair AS
SELECT run, sampler, process, kind, first_node, second_node, sum(watches) AS watches,
  sum(iif(is_trap, watches, 0)) AS traps, sum(iif(is_redundant, watches, 0)) AS redundant,
  sum(iif(is_changed, watches, 0)) AS changed, sum(iif(is_redundant, bytes, 0)) AS bytes,
  sum(iif(is_trap, weight_ns, 0)) AS trap_ns, sum(iif(is_redundant, weight_ns, 0)) AS redundant_ns,
  sum(iif(is_trap, weight_sq_ns2, 0)) AS trap_sq, sum(iif(is_redundant AND is_telling, watches, 0)) AS tell_redundant,
  sum(iif(is_redundant AND is_telling, weight_ns, 0)) AS wasted_ns, sum(iif(is_redundant, length_ns, 0)) AS length_ns,
  sum(iif(is_redundant, gap_ns, 0)) AS gap_ns,
  max(iif(is_redundant, weight_ns, 0)) AS top_ns, memory -- of the heaviest, as above
FROM x_watched
WHERE second_node <> 0
GROUP BY run, process, kind, first_node, second_node;

CREATE VIEW x_ranked_pair AS
SELECT *, row_number() OVER (PARTITION BY run ORDER BY severity = 'reuse', severity = 'low', wasted_ns DESC,
    redundant_ns DESC, process, kind, first_node, second_node) AS rank
FROM (
  SELECT x.*, a.cpu_ns AS run_ns, redundant_ns / nullif(trap_ns, 0) AS p,
    t.z2 * trap_sq / nullif(trap_ns * trap_ns, 0) AS h, CASE
      WHEN tell_redundant = 0 THEN 'reuse'
      WHEN traps >= t.high_traps AND redundant_ns >= t.pair_fraction * trap_ns AND wasted_ns >= t.high_share * a.cpu_ns
        THEN 'high'
      ELSE 'low' END AS severity
  FROM x_pair x JOIN x_threshold t JOIN x_total a ON a.run = x.run
  WHERE redundant > 0);

-- The innermost Python line of a node, and the line of own code that led to it.
CREATE VIEW x_node_line AS
SELECT n.process, n.id AS node, f.path AS file, l.line, u.name AS function, iif(f.is_own, NULL, f.library) AS library,
  iif(n.line_location = n.own_location, NULL, fo.path) AS user_file,
  iif(n.line_location = n.own_location, NULL, o.line) AS user_line, ne.name AS native_function,
  me.name AS native_library
FROM node n LEFT JOIN place(l, u, f) AT (n.process, n.line_location)
LEFT JOIN place(o, uo, fo) AT (n.process, n.own_location)
LEFT JOIN function ne ON ne.process = n.process AND ne.id = n.entry_function
LEFT JOIN x_module me ON me.process = ne.process AND me.id = ne.module;

-- A location as JSON. It is written out, since SQLite 3.38 to 3.40 takes its own JSON functions for unsafe in the views
-- of a file that one does not trust. Control characters may stand in names, but not in JSON.
CREATE VIEW x_frame AS
SELECT process, location, kind, library, CASE
    WHEN coalesce(name, '') || coalesce(file, '') || coalesce(library, '')
      NOT GLOB '*[' || char(1) || '-' || char(31) || ']*'
      THEN frame
    ELSE (
      WITH RECURSIVE clean (n, text) AS (
        SELECT 1, frame UNION ALL SELECT n + 1, replace(text, char(n), printf('\u%04x', n)) FROM clean WHERE n < 32)
      SELECT text FROM clean WHERE n = 32) END AS frame
FROM (
  SELECT *, iif(kind = PIE_LOCATION_PYTHON, '{"kind":"python"', '{"kind":"native"') || ',"function":'
    || coalesce('"' || replace(replace(name, '\', '\\'), '"', '\"') || '"', 'null') || ',"file":'
    || coalesce('"' || replace(replace(file, '\', '\\'), '"', '\"') || '"', 'null') || ',"line":'
    || coalesce(CAST(line AS INTEGER), 'null') || ',"library":'
    || coalesce('"' || replace(replace(library, '\', '\\'), '"', '\"') || '"', 'null') || ',"offset":'
    || coalesce(CAST(address AS INTEGER), 'null') || '}' AS frame
  FROM (
    SELECT l.process, l.id AS location, u.kind, u.name, f.path AS file, l.line, l.address, iif(u.kind = PIE_LOCATION_PYTHON,
        iif(f.is_own, NULL, f.library),
        m.name) AS library
    FROM location l JOIN function u ON u.process = l.process AND u.id = l.function
    LEFT JOIN file f ON f.process = u.process AND f.id = u.file
    LEFT JOIN x_module m ON m.process = u.process AND m.id = u.module));

-- Pairs with their call paths, JSON arrays of frames, outermost first. As in the readable call tree, frames of the
-- interpreter's own code and what starts a thread or the program are left out.
CREATE VIEW v_pair AS
SELECT x.run, x.rank, iif(x.kind = PIE_WATCH_LOAD, 'load', 'store') AS kind, i.file, i.line, i.function, j.file AS second_file,
  j.line AS second_line, j.function AS second_function,
  coalesce(i.native_function, '(no symbol), called by ' || i.function) AS native_function, i.native_library, x.p AS redundant_fraction,
  max(0, (p + h / 2 - sqrt(h * p * (1 - p) + h * h / 4)) / (1 + h)) AS fraction_low,
  min(1, (p + h / 2 + sqrt(h * p * (1 - p) + h * h / 4)) / (1 + h)) AS fraction_high, x.wasted_ns / 1e9 AS wasted_s,
  x.wasted_ns / nullif(x.run_ns, 0) AS wasted_share, x.bytes, x.traps, x.redundant, x.changed,
  CASE x.memory WHEN PIE_WATCH_MEMORY_OBJECT THEN 'object' WHEN PIE_WATCH_MEMORY_ARRAY THEN 'array'
    WHEN PIE_WATCH_MEMORY_RESULT THEN 'result' WHEN PIE_WATCH_MEMORY_RETURNED THEN 'returned'
    WHEN PIE_WATCH_MEMORY_CALL THEN 'call' ELSE 'other' END
    AS memory,
  x.length_ns / 1e9 / x.redundant AS length_s, x.gap_ns / 1e9 / x.redundant AS gap_s, x.sampler, x.severity, i.library,
  i.user_file, i.user_line, j.library AS second_library, j.user_file AS second_user_file,
  j.user_line AS second_user_line,
  call_path(x.process, x.first_node) AS first_path, call_path(x.process, x.second_node) AS second_path
FROM x_ranked_pair x JOIN x_node_line i ON i.process = x.process AND i.node = x.first_node
JOIN x_node_line j ON j.process = x.process AND j.node = x.second_node;
