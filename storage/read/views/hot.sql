-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code that take a good part of the run, whatever is known of them: pure Python has no accesses that are
-- watched. They have a finding all the same, and counted windows may say what their calls are (windows.sql). Below
-- findings.sql.

-- All figures to tune are here.
CREATE VIEW x_hot_threshold AS SELECT
  0.25 AS hot_part,        -- a line is named if it takes this part of the run's CPU time, and no other one takes more;
  0.1 AS warm_part;        -- or this part, and windows have something to say of it

CREATE VIEW x_line_weight AS
SELECT s.run, f.path AS file, l.line, u.name AS function, u.first_line AS function_line, 1.0 * sum(s.cpu_ns) AS line_ns,
  max(s.cpu_ns), sum(u.name IS '<module>' AND l.is_in_loop IS 0) = count(*) AS runs_once
FROM x_sample s CROSS JOIN node n ON n.process = s.process AND n.id = s.node JOIN place(l, u, f) AT (n.process, n.own_location)
WHERE f.is_own AND l.line > 0
GROUP BY s.run, f.path, l.line;

CREATE VIEW x_hot_line AS
SELECT x.*, substr(x.file, -255) AS file_end, a.cpu_ns * 1.0 AS run_ns, iif(line_ns >= hot_part * a.cpu_ns AND row_number() OVER (
    PARTITION BY x.run ORDER BY line_ns DESC) = 1, 'hot', 'warm') AS severity
FROM x_line_weight x
JOIN x_may_hot m ON m.run = x.run JOIN x_total a ON a.run = x.run JOIN x_hot_threshold
WHERE line_ns >= warm_part * a.cpu_ns;

-- As x_told_finding has them. It leaves them out where the line has another finding.
CREATE VIEW x_hot_told AS
SELECT x.run, PIE_WATCH_STORE, x.file, x.line, x.function, x.function_line, NULL, NULL, NULL, NULL, 'undecided',
  printf('the line takes %.0f %% of the run, and no watched access to memory of native code says more of it, so the '
    || 'evidence does not decide', 100 * x.line_ns / x.run_ns),
  printf('see what takes its time with "call tree of %s:%d"%s',
    replace(x.file_end, rtrim(x.file_end, replace(x.file_end, '/', '')), ''), x.line,
    iif(x.runs_once, '', ', and count all of its calls with pieprof confirm')),
  NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, x.line_ns, x.run_ns, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0,
  x.severity, PIE_BASIS_WATCHES, 1
FROM x_hot_line x JOIN x_threshold t;

-- What is said where nothing is high: the hot and warm lines, and what is known of their calls. new_calls: those of
-- callee, which takes most of the line's counted time, if hardly any had the arguments of another one; else those that
-- were compared at the line or below it, without a callee, if that is so of these; else NULL. comparisons: at the line
-- and below it. runs_once: the line is a module's and in no loop. starts_libraries: and a library below it calls other
-- own code: it starts a server, an event loop, a test runner. Imports are left out.
CREATE VIEW x_heavy_threshold AS SELECT
  1e8 AS least_ns,         -- a hot or warm line that takes this long,
  5 AS least_calls,        -- calls are new if this number was counted or compared,
  0.9 AS new_part;         -- and this part of them, by their time, had arguments that no other call had

CREATE VIEW x_heavy_line AS
SELECT run, file, line, share, iif(is_counted, callee, NULL) AS callee, CASE
    WHEN is_counted THEN calls
    WHEN is_compared THEN compared END AS new_calls, comparisons, runs_once, runs_once AND EXISTS (
    SELECT 1 FROM process p JOIN node n ON n.process = p.id AND n.location = n.own_location
    JOIN node b ON b.process = n.process AND b.id = n.parent AND b.own_location <> n.own_location AND b.location <> b.own_location
    JOIN place(l, u, f) AT (b.process, b.own_location)
    WHERE p.run = h.run AND f.path = h.file AND l.line = h.line) AS starts_libraries
FROM (
  SELECT x.run, x.file, x.line, x.runs_once, x.line_ns / x.run_ns AS share, c.callee, c.calls, g.compared,
    c.new_ns >= t.new_part * c.sum_ns AND c.calls >= t.least_calls AS is_counted,
    g.compared >= t.least_calls AND g.same <= (1 - t.new_part) * g.compared
      AND coalesce(c.again_ns <= (1 - t.new_part) * c.sum_ns, 1) AS is_compared,
    coalesce(w.comparisons, 0) AS comparisons
  FROM x_hot_line x JOIN x_heavy_threshold t
  LEFT JOIN (
    SELECT p.run, w.file, w.line, w.callee, w.calls, max(w.call_ns), sum(w.call_ns) AS sum_ns,
      sum(w.again_ns + w.alike_ns) AS again_ns,
      sum(iif(w.compared >= t.new_part * w.calls, w.call_ns - w.again_ns - w.alike_ns, 0)) AS new_ns
    FROM windowed w JOIN process p ON p.id = w.process JOIN x_heavy_threshold t
    GROUP BY p.run, w.file, w.line) c ON c.run = x.run AND c.file = x.file AND c.line = x.line
  LEFT JOIN x_line_arguments g ON g.run = x.run AND g.file = x.file AND g.line = x.line
  LEFT JOIN (
    SELECT p.run, f.path AS file, l.line, sum(w.watches) AS comparisons
    FROM process p JOIN watch w ON w.process = p.id JOIN node n ON n.process = w.process AND n.id = w.first_node
    JOIN place(l, u, f) AT (n.process, n.own_location)
    WHERE w.outcome IN (PIE_WATCH_REDUNDANT, PIE_WATCH_CHANGED)
    GROUP BY p.run, f.path, l.line) w ON w.run = x.run AND w.file = x.file AND w.line = x.line
  WHERE x.line_ns >= t.least_ns AND NOT EXISTS (
    SELECT 1 FROM v_source k WHERE k.run = x.run AND k.file = x.file AND k.line = x.line
      AND (ltrim(k.text) GLOB 'import *' OR ltrim(k.text) GLOB 'from * import *'))) h;
