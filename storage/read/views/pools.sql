-- SPDX-License-Identifier: Apache-2.0
-- For which lines threads without Python frames worked. Above the views of time.sql.

-- By line, as in v_line: in no other figure of the line, since it is CPU time of other threads.
CREATE VIEW x_worked AS
SELECT s.run, f.path AS file, l.line, u.name AS function, sum(s.worked_ns) AS worked_ns,
  iif(f.is_own AND s.is_run_by_own, NULL, f.library) AS library,
  iif(f.is_own AND s.is_run_by_own, NULL, fo.path) AS user_file,
  iif(f.is_own AND s.is_run_by_own, NULL, o.line) AS user_line
FROM (
  SELECT p.run, e.process, n.line_location, n.own_location, n.line_location IS n.own_location AS is_run_by_own,
    sum(e.time_ns) AS worked_ns
  FROM process p JOIN related e ON e.process = p.id AND e.kind = PIE_RELATED_WORKED
  JOIN node n ON n.process = e.process AND n.id = e.node
  GROUP BY p.run, e.process, n.line_location, n.own_location) s
JOIN place(l, u, f) AT (s.process, s.line_location)
LEFT JOIN place(o, uo, fo) AT (s.process, s.own_location)
GROUP BY 1, 2, 3, 4, 6, 7, 8;

CREATE VIEW v_worked AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY worked_ns DESC, file, line, function) AS rank, file, line,
  function, worked_ns / 1e9 AS worked_s, worked_ns * 1.0 / nullif(a.cpu_ns, 0) AS worked_share, library, user_file,
  user_line
FROM x_worked x JOIN x_total a ON a.run = x.run;

-- The lines of v_line, with what was worked for them.
CREATE VIEW x_line_share AS
SELECT s.*, coalesce(w.worked_ns, 0) / 1e9 AS worked_s
FROM x_line_own_share s
LEFT JOIN (SELECT run, file, line, sum(worked_ns) AS worked_ns FROM x_worked GROUP BY run, file, line) w
  ON w.run = s.run AND w.file = s.file AND w.line = s.line;

CREATE VIEW v_line AS
ranked(x_line_share: file, line, function, library, user_file, user_line, worked_s);
