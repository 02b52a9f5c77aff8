-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code that spend their time in functions of libraries which take one element at a time. Samples of time
-- tell that, so nothing is watched. Above time.sql and advice.sql, below findings.sql.

-- All figures to tune are here.
CREATE VIEW x_element_threshold AS SELECT
  20 AS samples,       -- a line is named if this number of its samples met such functions,
  0.3 AS part;         -- and this part of its time

-- By line, with the function that takes most.
CREATE VIEW x_element_line AS
SELECT * FROM (
  SELECT s.run, f.path AS file, l.line, u.name AS function, u.first_line AS function_line, e.category, fi.library,
    ui.name AS element_function, 1.0 * sum(s.cpu_ns) OVER g AS line_ns, sum(iif(e.category IS NULL, 0, s.cpu_ns)) OVER g AS element_ns,
    sum(iif(e.category IS NULL, 0, s.samples)) OVER g AS samples, row_number() OVER (PARTITION BY s.run, f.path, l.line
      ORDER BY e.category IS NULL, s.cpu_ns DESC, s.process, s.line_location) AS nth
  FROM x_place_cost s JOIN place(l, u, f) AT (s.process, s.own_location)
  LEFT JOIN place(i, ui, fi) AT (s.process, s.line_location)
  LEFT JOIN x_element_function e ON fi.library GLOB e.library AND ui.name GLOB e.function
  WHERE s.kind = 1 AND f.is_own
  WINDOW g AS (PARTITION BY s.run, f.path, l.line))
WHERE nth = 1 AND element_ns > 0;

-- As x_told_finding has them.
CREATE VIEW x_element_told AS
SELECT x.run, NULL, x.file, x.line, x.function, x.function_line, NULL, NULL, NULL, x.library, x.category,
  printf('for %.0f %% of its time the line is in %s() of %s, which takes one element at a time',
    100 * x.element_ns / x.line_ns, x.element_function, x.library), (
    SELECT a.advice FROM x_advice a WHERE a.about = x.category AND x.library GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1),
  NULL, NULL, NULL, x.line_ns, t.calls_low * x.line_ns, min(a.cpu_ns, t.calls_high * x.line_ns), x.element_ns, x.element_ns, NULL,
  x.line_ns, a.cpu_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  t.z2, t.high_traps, t.high_low, t.high_part, t.high_share, t.calls_high, 'high', PIE_BASIS_ELEMENTS, 1
FROM x_element_line x JOIN x_element_threshold m JOIN x_total a ON a.run = x.run JOIN x_threshold t
WHERE x.samples >= m.samples AND x.element_ns >= m.part * x.line_ns AND t.calls_low * x.line_ns >= t.high_share * a.cpu_ns;
