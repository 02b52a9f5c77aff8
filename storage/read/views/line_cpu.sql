-- SPDX-License-Identifier: Apache-2.0
-- CPU time by line as findings count it. Above watches.sql, below watched_lines.sql.

-- Lines that were watched, in either way in which x_watch has them: there are few.
CREATE VIEW x_watched_line AS
SELECT DISTINCT x.run, f.path AS file, l.line
FROM (
  SELECT DISTINCT p.run, w.process, iif(r.is_own, n.own_location, n.line_location) AS place
  FROM process p JOIN watch w ON w.process = p.id JOIN node n ON n.process = w.process AND n.id = w.first_node
  JOIN (SELECT 1 AS is_own UNION ALL SELECT 0) r) x
JOIN place(l, u, f) AT (x.process, x.place);

-- CPU time by line as findings count it: that of the line with all that it called in libraries, their Python code and
-- the kernel's time for them included, since a fix of the line removes all of it. Where calls of functions of own code
-- were compared, the time of these as well. Only of lines that were watched. Of it, of own lines: array_python_ns, in
-- the Python code of array libraries; copy_ns, in copy.deepcopy().
CREATE VIEW x_line_cpu AS
SELECT run, file, line, line_ns, array_python_ns, copy_ns
FROM (
  SELECT s.run, f.path AS file, l.line, max(sum(s.ns) OVER g, sum(s.called_ns) OVER g) AS line_ns,
    sum(s.array_python_ns) OVER g AS array_python_ns, sum(s.copy_ns) OVER g AS copy_ns, row_number() OVER g AS nth
  FROM (
    SELECT s.run, s.process, iif(r.is_own, s.own_location, s.line_location) AS place, s.cpu_ns AS ns, 0 AS called_ns,
      iif(r.is_own AND EXISTS (SELECT 1 FROM x_array_library b WHERE fi.library GLOB b.library
        AND b.library <> 'matplotlib'), s.python_ns, 0) AS array_python_ns, -- which draws in Python code
      iif(r.is_own AND fi.library = 'python' AND ui.name GLOB '*deepcopy*', s.cpu_ns, 0) AS copy_ns
    FROM x_place_cost s JOIN (SELECT 1 AS is_own UNION ALL SELECT 0) r
      ON r.is_own OR s.line_location IS NOT s.own_location
    LEFT JOIN place(i, ui, fi) AT (s.process, s.line_location)
    WHERE s.kind = 1
    UNION ALL
    SELECT run, process, place, 0, ns, 0, 0 FROM x_called_cpu) s
  JOIN place(l, u, f) AT (s.process, s.place)
  CROSS JOIN x_watched_line w ON w.run = s.run AND w.file = f.path AND w.line = l.line
  WINDOW g AS (PARTITION BY s.run, f.path, l.line))
WHERE nth = 1;
