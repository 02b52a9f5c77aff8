-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code that take a good part of the run, whatever is known of them: pure Python has no accesses that are
-- watched. They have a finding all the same, and counted windows may say what their calls are (windows.sql). Below
-- findings.sql.

-- All figures to tune are here.
CREATE VIEW x_hot_threshold AS SELECT
  0.25 AS hot_part,        -- a line is named if it takes this part of the run's CPU time, and no other one takes more;
  0.1 AS warm_part;        -- or this part, and windows have something to say of it

CREATE VIEW x_hot_line AS
SELECT x.*, a.cpu_ns * 1.0 AS run_ns, iif(line_ns >= hot_part * a.cpu_ns AND row_number() OVER (
    PARTITION BY x.run ORDER BY line_ns DESC) = 1, 'hot', 'warm') AS severity
FROM (
  SELECT s.run, f.path AS file, l.line, u.name AS function, u.first_line AS function_line, 1.0 * sum(s.cpu_ns) AS line_ns,
    max(s.cpu_ns)
  FROM x_sample s CROSS JOIN node n ON n.process = s.process AND n.id = s.node JOIN place(l, u, f) AT (n.process, n.own_location)
  WHERE f.is_own AND l.line > 0
  GROUP BY s.run, f.path, l.line) x
JOIN x_may_hot m ON m.run = x.run JOIN x_total a ON a.run = x.run JOIN x_hot_threshold
WHERE line_ns >= warm_part * a.cpu_ns;

-- As x_told_finding has them. It leaves them out where the line has another finding.
CREATE VIEW x_hot_told AS
SELECT x.run, PIE_WATCH_STORE, x.file, x.line, x.function, x.function_line, NULL, NULL, NULL, NULL, 'undecided',
  printf('the line takes %.0f %% of the run, and no watched access to memory of native code says more of it, so the '
    || 'evidence does not decide', 100 * x.line_ns / x.run_ns),
  'see what takes its time with "calls below" the line, and count all of its calls with pieprof confirm',
  NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, x.line_ns, x.run_ns, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0,
  x.severity, PIE_BASIS_WATCHES, 1
FROM x_hot_line x JOIN x_threshold t;
