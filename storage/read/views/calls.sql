-- SPDX-License-Identifier: Apache-2.0
-- Inclusive time: functions and lines with all that ran below them, and who called whom.

-- The Python frames on the way to each node, the innermost first: nth and nth_outer count those of the same function
-- from the inside and from the outside, nth_of_line those of the same line. below and above are its neighbours.
-- is_above_own: own code stands between it and the node, or it is that.
CREATE VIEW x_call_step AS
WITH RECURSIVE up (process, node, at, depth) AS (
  SELECT process, id, id, 0 FROM node
  UNION ALL
  SELECT up.process, up.node, n.parent, up.depth + 1
  FROM up JOIN node n ON n.process = up.process AND n.id = up.at
  WHERE n.parent IS NOT NULL AND up.depth < 4096)
SELECT process, node, function, location,
  row_number() OVER (PARTITION BY process, node ORDER BY depth) = 1 AS is_innermost,
  max(is_own) OVER (PARTITION BY process, node ORDER BY depth) AS is_above_own,
  row_number() OVER (PARTITION BY process, node, function ORDER BY depth) AS nth,
  row_number() OVER (PARTITION BY process, node, function ORDER BY depth DESC) AS nth_outer,
  row_number() OVER (PARTITION BY process, node, location ORDER BY depth) AS nth_of_line,
  lag(function) OVER (PARTITION BY process, node ORDER BY depth) AS below,
  lead(location) OVER (PARTITION BY process, node ORDER BY depth) AS above
FROM (
  SELECT up.process, up.node, up.depth, l.function, l.id AS location, coalesce(f.is_own, 0) AS is_own
  FROM up JOIN node n ON n.process = up.process AND n.id = up.at
  JOIN location l ON l.process = n.process AND l.id = n.location
  JOIN function u ON u.process = l.process AND u.id = l.function AND u.kind = PIE_LOCATION_PYTHON
  LEFT JOIN file f ON f.process = u.process AND f.id = u.file);

-- kind: 1 a function, 2 a line (location), 3 a function by the line that called it (location, 0: none), 4 a function by
-- what it called (other, 0: its own code), 5 an own function by the line of own code (location) that was at work in it
-- or below, 6 a library's function by the line of own code that used it, itself or through other library code. A sample
-- counts once for each function and line on its way, however often they stand there: a function's caller is that of the
-- outermost of its frames, and its callee that of the innermost. A reader has a table of this name instead, which is
-- made in one walk through the tree (call_time.c).
CREATE VIEW x_call_time AS
SELECT s.process, k.kind, k.function, k.location, k.other, sum(s.samples) AS samples, sum(s.python_ns) AS python_ns,
  sum(s.native_ns) AS native_ns, sum(s.system_ns) AS system_ns, sum(s.wait_ns) AS wait_ns,
  sum(s.runnable_ns) AS runnable_ns, sum(s.throttled_ns) AS throttled_ns,
  sum(iif(k.is_innermost, s.python_ns + s.native_ns + s.system_ns, 0)) AS self_ns
FROM (
  SELECT process, node, 1 AS kind, function, 0 AS location, 0 AS other, is_innermost FROM x_call_step WHERE nth = 1
  UNION ALL
  SELECT process, node, 2, 0, location, 0, is_innermost FROM x_call_step WHERE nth_of_line = 1
  UNION ALL
  SELECT process, node, 3, function, coalesce(above, 0), 0, 0 FROM x_call_step WHERE nth_outer = 1
  UNION ALL
  SELECT c.process, c.node, 4, c.function, 0, coalesce(c.below, n.entry_function, 0), 0
  FROM x_call_step c JOIN node n ON n.process = c.process AND n.id = c.node WHERE c.nth = 1
  UNION ALL
  SELECT c.process, c.node, 5, c.function, n.own_location, 0, 0
  FROM x_call_step c JOIN node n ON n.process = c.process AND n.id = c.node
  JOIN function u ON u.process = c.process AND u.id = c.function JOIN file f ON f.process = u.process AND f.id = u.file
  WHERE c.nth_outer = 1 AND n.own_location IS NOT NULL AND f.is_own
  UNION ALL
  SELECT c.process, c.node, 6, c.function, n.own_location, 0, 0
  FROM x_call_step c JOIN node n ON n.process = c.process AND n.id = c.node
  WHERE c.nth = 1 AND NOT c.is_above_own AND n.own_location IS NOT NULL) k
JOIN x_node_sample s ON s.process = k.process AND s.node = k.node
GROUP BY s.process, k.kind, k.function, k.location, k.other;

-- With what was not measured as NULL.
CREATE VIEW x_call_cost AS
SELECT p.run, c.process, c.kind, c.function, c.location, c.other, c.samples, c.wait_ns, c.runnable_ns, c.throttled_ns,
  iif(p.clock = 'none', NULL, c.python_ns + c.native_ns + c.system_ns) AS cpu_ns,
  iif(p.clock = 'none', NULL, c.python_ns) AS python_ns, iif(p.clock = 'none', NULL, c.native_ns) AS native_ns,
  iif(p.clock = 'none', NULL, c.system_ns) AS system_ns, iif(p.clock = 'none', NULL, c.self_ns) AS self_ns
FROM process p CROSS JOIN x_call_time c ON c.process = p.id;

CREATE VIEW x_function_total AS
SELECT c.run, f.path AS file, u.first_line AS line, u.name AS function, max(iif(f.is_own, NULL, f.library)) AS library,
  summed(c)
FROM x_call_cost c JOIN function u ON u.process = c.process AND u.id = c.function
LEFT JOIN file f ON f.process = u.process AND f.id = u.file
WHERE c.kind = 1
GROUP BY c.run, f.path, u.first_line, u.name;

CREATE VIEW x_line_total AS
SELECT c.run, f.path AS file, l.line, u.name AS function, u.first_line, max(iif(f.is_own, NULL, f.library)) AS library,
  summed(c)
FROM x_call_cost c JOIN place(l, u, f) AT (c.process, c.location)
WHERE c.kind = 2
GROUP BY c.run, f.path, l.line, u.name, u.first_line;

CREATE VIEW x_caller_total AS
SELECT c.run, fu.path AS callee_file, u.first_line AS callee_line, u.name AS callee, f.path AS file, l.line,
  coalesce(w.name, '(nothing)') AS function, max(iif(f.is_own, NULL, f.library)) AS library, summed(c)
FROM x_call_cost c JOIN function u ON u.process = c.process AND u.id = c.function
LEFT JOIN file fu ON fu.process = u.process AND fu.id = u.file
LEFT JOIN place(l, w, f) AT (c.process, c.location)
WHERE c.kind = 3
GROUP BY c.run, fu.path, u.first_line, u.name, f.path, l.line, w.name;

CREATE VIEW x_callee_total AS
SELECT c.run, fu.path AS caller_file, u.first_line AS caller_line, u.name AS caller,
  CASE w.kind WHEN PIE_LOCATION_PYTHON THEN 'python' WHEN PIE_LOCATION_NATIVE THEN 'native' ELSE 'self' END AS kind,
  f.path AS file, w.first_line AS line, coalesce(w.name, iif(c.other, '(no symbol)', '(its own code)')) AS function,
  max(coalesce(iif(f.is_own, NULL, f.library), m.name)) AS library, summed(c)
FROM x_call_cost c JOIN function u ON u.process = c.process AND u.id = c.function
LEFT JOIN file fu ON fu.process = u.process AND fu.id = u.file
LEFT JOIN function w ON w.process = c.process AND w.id = c.other
LEFT JOIN file f ON f.process = w.process AND f.id = w.file
LEFT JOIN x_module m ON m.process = w.process AND m.id = w.module
WHERE c.kind = 4
GROUP BY c.run, fu.path, u.first_line, u.name, w.kind, f.path, w.first_line, w.name, c.other = 0, m.name;

CREATE VIEW v_total_function AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY x.cpu_ns DESC, x.wait_ns DESC, file, line, function) AS rank,
  file, line, function, in_seconds(x), x.self_ns / 1e9 AS self_s, library
FROM x_function_total x JOIN x_total a ON a.run = x.run;

CREATE VIEW v_total_line AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY x.cpu_ns DESC, x.wait_ns DESC, file, line, function) AS rank,
  file, line, function, in_seconds(x), x.self_ns / 1e9 AS self_s, library
FROM x_line_total x JOIN x_total a ON a.run = x.run;

-- part_share: of the function's total_s.
CREATE VIEW v_caller AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY x.cpu_ns DESC, x.wait_ns DESC, callee_file, callee_line,
    callee, file, line, function) AS rank,
  file, line, function, in_seconds(x), x.cpu_ns * 1.0 / nullif(sum(x.cpu_ns) OVER (PARTITION BY x.run, callee_file,
    callee_line, callee), 0) AS part_share, library, callee_file, callee_line, callee
FROM x_caller_total x JOIN x_total a ON a.run = x.run;

CREATE VIEW v_callee AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY x.cpu_ns DESC, x.wait_ns DESC, caller_file, caller_line,
    caller, kind, file, line, function) AS rank,
  kind, file, line, function, in_seconds(x), x.cpu_ns * 1.0 / nullif(sum(x.cpu_ns) OVER (PARTITION BY x.run, caller_file,
    caller_line, caller), 0) AS part_share, library, caller_file, caller_line, caller
FROM x_callee_total x JOIN x_total a ON a.run = x.run;
