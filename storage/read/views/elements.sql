-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code that spend their time in functions of libraries which take one element at a time. Samples of time
-- tell that, so nothing is watched. Above time.sql and advice.sql, below findings.sql.

-- All figures to tune are here.
CREATE VIEW x_element_threshold AS SELECT
  20 AS samples,       -- a line is named if this number of its samples met such functions,
  0.3 AS part;         -- and this part of its time

-- Processes that ran such functions. Functions come first: a file has no way to its functions but through all of them.
CREATE VIEW x_element_process AS
SELECT u.process
FROM function u CROSS JOIN file f ON f.process = u.process AND f.id = u.file
CROSS JOIN x_element_function e ON f.library GLOB e.library AND u.name GLOB e.function
WHERE NOT f.is_own;

-- Samples of these processes, each with the innermost of the functions that it was in, or that called what it was in.
-- Where a function calls one that it was given (numpy.vectorize), only its own time counts: that one may do bulk work.
CREATE VIEW x_element_sample AS
SELECT p.run, s.process, n.own_location, s.samples, s.python_ns + s.native_ns + s.system_ns AS cpu_ns, (
    WITH RECURSIVE up (node, location) AS (
      SELECT n.id, n.location WHERE n.line_location <> n.own_location
      UNION ALL
      SELECT m.id, m.location
      FROM up JOIN node k ON k.process = p.id AND k.id = up.node
      JOIN node m ON m.process = p.id AND m.id = k.parent AND m.location <> n.own_location)
    SELECT iif(e.category IS NULL, NULL, u.id)
    FROM up CROSS JOIN location l ON l.process = p.id AND l.id = up.location
    CROSS JOIN function u ON u.process = p.id AND u.id = l.function AND u.kind = PIE_LOCATION_PYTHON
    CROSS JOIN file f ON f.process = p.id AND f.id = u.file
    CROSS JOIN x_element_function e ON f.library GLOB e.library AND u.name GLOB e.function
    WHERE e.has_called OR up.location = n.line_location LIMIT 1) AS function
FROM (SELECT DISTINCT process FROM x_element_process) e CROSS JOIN process p ON p.id = e.process
CROSS JOIN x_node_sample s ON s.process = p.id
CROSS JOIN node n ON n.process = s.process AND n.id = s.node;

-- By line, with the function that takes most.
CREATE VIEW x_element_line AS
SELECT x.*, e.category, fe.library, ue.name AS element_function
FROM (
  SELECT s.run, s.process, f.path AS file, l.line, u.name AS function, u.first_line AS function_line,
    s.function AS element, 1.0 * sum(s.cpu_ns) OVER g AS line_ns, sum(iif(s.function IS NULL, 0, s.cpu_ns)) OVER g AS element_ns,
    sum(iif(s.function IS NULL, 0, s.samples)) OVER g AS samples, row_number() OVER (PARTITION BY s.run, f.path, l.line
      ORDER BY s.function IS NULL, s.cpu_ns DESC, s.process, s.function) AS nth
  FROM (
    SELECT run, process, own_location, function, sum(cpu_ns) AS cpu_ns, sum(samples) AS samples
    FROM x_element_sample GROUP BY run, process, own_location, function) s
  JOIN place(l, u, f) AT (s.process, s.own_location)
  WHERE f.is_own
  WINDOW g AS (PARTITION BY s.run, f.path, l.line)) x
JOIN function ue ON ue.process = x.process AND ue.id = x.element
JOIN file fe ON fe.process = ue.process AND fe.id = ue.file
JOIN x_element_function e ON fe.library GLOB e.library AND ue.name GLOB e.function
WHERE x.nth = 1;

-- As x_told_finding has them.
CREATE VIEW x_element_told AS
SELECT x.run, NULL, x.file, x.line, x.function, x.function_line, NULL, NULL, NULL, x.library, x.category,
  printf('for %.0f %% of its time the line is in %s() of %s, which takes one element at a time',
    100 * x.element_ns / x.line_ns, x.element_function, x.library), (
    SELECT a.advice FROM x_advice a WHERE a.about = x.category AND x.library GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1),
  NULL, NULL, NULL, x.line_ns, t.calls_low * x.line_ns, min(a.cpu_ns, t.calls_high * x.line_ns), x.element_ns, x.element_ns, NULL,
  x.line_ns, a.cpu_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  'high', PIE_BASIS_ELEMENTS, 1
FROM x_element_line x JOIN x_element_threshold m JOIN x_total a ON a.run = x.run JOIN x_threshold t
WHERE x.samples >= m.samples AND x.element_ns >= m.part * x.line_ns AND t.calls_low * x.line_ns >= t.high_share * a.cpu_ns;
