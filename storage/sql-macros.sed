# SPDX-License-Identifier: Apache-2.0
# Macros of storage/*.sql, for embed-text: SQLite cannot write a view of joins into an outer join, so it would be made whole.
#
# `JOIN place(l, u, f) AT (x.process, x.location)`: the location l with its function u and file f.
s/\(LEFT JOIN\|JOIN\) place(\([a-z]*\), \([a-z]*\), \([a-z]*\)) AT (\([a-z]*\.process\), \([a-z_.]*\|coalesce([a-z_., ]*)\))/\1 location \2 ON \2.process = \5 AND \2.id = \6 \1 function \3 ON \3.process = \2.process AND \3.id = \2.function \1 file \4 ON \4.process = \3.process AND \4.id = \3.file/g
#
# `call_path(x.process, x.node)`: a JSON array of the frames that lead to a node, outermost first; of native code that of
# libraries, the innermost, and what was called by Python code.
s/call_path(\([a-z.]*\), \([a-z_.]*\))/(\
  WITH RECURSIVE up (depth, node, location) AS (\
    SELECT 0, n.id, n.location FROM node n WHERE n.process = \1 AND n.id = \2\
    UNION ALL\
    SELECT up.depth + 1, iif(l.caller IS NULL, n.parent, n.id), coalesce(l.caller, m.location)\
    FROM up JOIN node n ON n.process = \1 AND n.id = up.node\
    JOIN location l ON l.process = \1 AND l.id = up.location\
    LEFT JOIN node m ON m.process = \1 AND m.id = n.parent\
    WHERE up.depth < 4096)\
  SELECT '[' || coalesce(group_concat(frame), '') || ']'\
  FROM (\
    SELECT up.depth, f.kind, f.library, f.frame, max(iif(f.kind = PIE_LOCATION_PYTHON, up.depth, NULL)) OVER () AS python_depth\
    FROM up JOIN x_frame f ON f.process = \1 AND f.location = up.location\
    ORDER BY up.depth DESC)\
  WHERE kind = PIE_LOCATION_PYTHON OR depth = 0 OR (library IS NOT 'python' AND depth < coalesce(python_depth, depth + 1)))/g
#
# `ranked(x: columns)`: the rows of a view by their cost.
s/ranked(\([a-z_]*\): \([a-z_, ]*\))/\
SELECT run, row_number() OVER (PARTITION BY run ORDER BY cpu_s DESC, wait_s DESC, file, line, function) AS rank,\
  \2, cpu_s, python_s, native_s, system_s, wait_s, runnable_s, throttled_s, cpu_share, samples, cpu_s_low, cpu_s_high\
FROM \1/g
#
# `shared(x: columns)`: the rows of a view of sums, with these columns, with their shares p and 95 % intervals (time.sql). h is
# z^2 / n with z = 1.96; at p = 0 or 1 n is Kish's T^2 / Q. DISTINCT keeps SQLite from writing h into each place that names it,
# CROSS JOIN from keeping all rows of x before it goes on.
s/shared(\([a-z_]*\): \([a-z_, ]*\))/\
SELECT run, \2, cpu_ns \/ 1e9 AS cpu_s, python_ns \/ 1e9 AS python_s, native_ns \/ 1e9 AS native_s, system_ns \/ 1e9 AS system_s,\
  wait_ns \/ 1e9 AS wait_s, runnable_ns \/ 1e9 AS runnable_s, throttled_ns \/ 1e9 AS throttled_s, p AS cpu_share, samples,\
  t * max(0, (p + h \/ 2 - sqrt(h * p * (1 - p) + h * h \/ 4)) \/ (1 + h)) \/ 1e9 AS cpu_s_low,\
  t * min(1, (p + h \/ 2 + sqrt(h * p * (1 - p) + h * h \/ 4)) \/ (1 + h)) \/ 1e9 AS cpu_s_high\
FROM (\
  SELECT DISTINCT x.run, \2, x.cpu_ns, python_ns, native_ns, system_ns, wait_ns, runnable_ns, throttled_ns, samples,\
    x.cpu_ns * 1.0 \/ nullif(a.cpu_ns, 0) AS p, nullif(a.cpu_ns, 0) * 1.0 AS t,\
    coalesce(3.841458820694124 * (x.cpu_sq_ns2 * (a.cpu_ns - x.cpu_ns) * (a.cpu_ns - x.cpu_ns) +\
      (a.cpu_sq_ns2 - x.cpu_sq_ns2) * x.cpu_ns * x.cpu_ns) \/ nullif(x.cpu_ns * (a.cpu_ns - x.cpu_ns), 0),\
      3.841458820694124 * a.cpu_sq_ns2) \/ nullif(a.cpu_ns * 1.0 * a.cpu_ns, 0) AS h\
  FROM \1 x CROSS JOIN x_total a ON a.run = x.run)/g
#
# `summed(c)`, `in_seconds(x)`: the sums of x_call_cost (calls.sql), and the columns that they become.
s/summed(\([a-z]*\))/\
  sum(\1.samples) AS samples, sum(\1.cpu_ns) AS cpu_ns, sum(\1.python_ns) AS python_ns, sum(\1.native_ns) AS native_ns,\
  sum(\1.system_ns) AS system_ns, sum(\1.wait_ns) AS wait_ns, sum(\1.runnable_ns) AS runnable_ns,\
  sum(\1.throttled_ns) AS throttled_ns, sum(\1.self_ns) AS self_ns/g
s/in_seconds(\([a-z]*\))/\1.cpu_ns \/ 1e9 AS total_s,\
  \1.cpu_ns * 1.0 \/ nullif(a.cpu_ns, 0) AS total_share, \1.python_ns \/ 1e9 AS python_s, \1.native_ns \/ 1e9 AS native_s,\
  \1.system_ns \/ 1e9 AS system_s, \1.wait_ns \/ 1e9 AS wait_s, \1.runnable_ns \/ 1e9 AS runnable_s,\
  \1.throttled_ns \/ 1e9 AS throttled_s, \1.samples/g
#
# `cause_name(x)`: what a thread waited for.
s/cause_name(\([a-z.]*\))/CASE \1 WHEN PIE_WAIT_GIL THEN 'gil' WHEN PIE_WAIT_LOCK THEN 'lock'\
  WHEN PIE_WAIT_SOCKET THEN 'socket' WHEN PIE_WAIT_PIPE THEN 'pipe' WHEN PIE_WAIT_FILE THEN 'file'\
  WHEN PIE_WAIT_TERMINAL THEN 'terminal' WHEN PIE_WAIT_POLL THEN 'poll' WHEN PIE_WAIT_SLEEP THEN 'sleep'\
  WHEN PIE_WAIT_CHILD THEN 'child' WHEN PIE_WAIT_GPU THEN 'gpu' WHEN PIE_WAIT_DISK THEN 'disk'\
  WHEN PIE_WAIT_SIGNAL THEN 'signal' WHEN PIE_WAIT_OTHER THEN 'other' ELSE 'unknown' END/g
#
# `sum_low(x, sq)`, `sum_high(x, sq)`: the 95 % interval of a sum x of weights of independent samples, by the sum sq of their
# squares. Below by its own standard error; above that total from which x is 1.96 of the total's standard errors away. So
# few samples leave room on both sides: of a Poisson count of one, 0 to 5.7. What stands for itself alone has no square.
s/sum_low(\([a-z_]*\), \([a-z_]*\))/max(0, \1 - sqrt(3.841458820694124 * \2))/g
s/sum_high(\([a-z_]*\), \([a-z_]*\))/(\1 + 1.920729410347062 * coalesce(\2 \/ nullif(\1, 0), 0) +\
    sqrt(\2 * (3.841458820694124 + 3.6892014677721727 * coalesce(\2 \/ nullif(\1 * 1.0 * \1, 0), 0))))/g
