-- SPDX-License-Identifier: Apache-2.0
-- Why lines wait. Above the views of time.sql.

-- What a reason is of the waiting of its context: of that for its cause, and of what related has no cause for. Where no
-- row has is_rest, as in files before 11.5, that is all of it, and each reason has its part of the whole.
CREATE VIEW x_wait_reason AS
SELECT process, thread, node, cause, resource, peer, holds_gil, wait_ns * 1.0 / nullif(cause_ns, 0) AS cause_part,
  iif(is_rest OR rest_ns IS NULL, wait_ns * 1.0 / nullif(coalesce(rest_ns, whole_ns), 0), 0) AS rest_part
FROM (
  SELECT *, sum(wait_ns) OVER (PARTITION BY process, thread, node, cause) AS cause_ns, sum(wait_ns) OVER g AS whole_ns,
    sum(iif(is_rest, wait_ns, NULL)) OVER g AS rest_ns
  FROM wait
  WINDOW g AS (PARTITION BY process, thread, node));

-- Waiting for causes that are not their context's first.
CREATE VIEW x_told_wait AS
SELECT process, slice_s, thread, node, kind - PIE_RELATED_WAIT AS cause, time_ns AS wait_ns
FROM related
WHERE kind >= PIE_RELATED_WAIT;

-- Time off the CPU, divided by its reasons; those of a cause are taken to have the same proportions in each slice. Rows
-- of one reason are to be added up.
CREATE VIEW x_wait_part AS
SELECT s.run, s.process, s.thread, s.node, coalesce(w.cause, s.cause, PIE_WAIT_UNKNOWN) AS cause,
  nullif(w.resource, '') AS resource, nullif(w.peer, 0) AS peer, coalesce(w.holds_gil, 0) AS holds_gil,
  s.wait_ns * coalesce(iif(s.cause IS NULL, w.rest_part, w.cause_part), 1) AS wait_ns
FROM (
  SELECT run, process, thread, node, NULL AS cause, wait_ns FROM x_sample WHERE wait_ns <> 0
  UNION ALL
  SELECT p.run, t.process, t.thread, t.node, NULL, -t.wait_ns FROM process p JOIN x_told_wait t ON t.process = p.id
  UNION ALL
  SELECT p.run, t.process, t.thread, t.node, t.cause, t.wait_ns FROM process p JOIN x_told_wait t ON t.process = p.id) s
LEFT JOIN x_wait_reason w ON w.process = s.process AND w.thread = s.thread AND w.node = s.node
  AND iif(s.cause IS NULL, w.rest_part IS NOT 0, w.cause = s.cause);

CREATE VIEW x_wait_cause AS
SELECT run, process, thread, node, resource, peer, holds_gil, wait_ns, cause_name(cause) AS cause
FROM x_wait_part;

-- By slice of the run (slices.sql).
CREATE VIEW x_rest_cause AS
SELECT process, thread, node, cause, sum(rest_part) AS rest_part
FROM x_wait_reason
GROUP BY process, thread, node, cause
HAVING sum(rest_part) IS NOT 0;

CREATE VIEW x_slice_wait AS
SELECT run, slice, cause_name(cause) AS cause, wait_ns
FROM (
  SELECT p.run, (p.started_ns + s.slice_s * 1000000000 - w.started_ns) / 1000000000 / w.width_s + 1 AS slice, s.cause,
    sum(s.wait_ns) AS wait_ns
  FROM process p JOIN x_slice_width w ON w.run = p.run JOIN (
    SELECT r.process, r.slice_s, coalesce(c.cause, PIE_WAIT_UNKNOWN) AS cause,
      sum(r.wait_ns * coalesce(c.rest_part, 1)) AS wait_ns
    FROM (
      SELECT process, slice_s, thread, node, wait_ns FROM sample WHERE wait_ns <> 0
      UNION ALL
      SELECT process, slice_s, thread, node, -wait_ns FROM x_told_wait) r
    LEFT JOIN x_rest_cause c ON c.process = r.process AND c.thread = r.thread AND c.node = r.node
    GROUP BY 1, 2, 3
    UNION ALL
    SELECT process, slice_s, cause, sum(wait_ns) FROM x_told_wait GROUP BY 1, 2, 3) s ON s.process = p.id
  GROUP BY 1, 2, 3);

-- Tasks of asyncio by name and coroutine: what each waited, for what, and its CPU time, both at lines of own code, or
-- of a library where there is none. name NULL: the program gave them none; cause NULL: CPU time; coroutine NULL: it is
-- not known. CPU time of a context in whose samples tasks were read is theirs.
CREATE VIEW v_task AS
SELECT run,
  row_number() OVER (PARTITION BY run ORDER BY wait_ns + cpu_ns DESC, coroutine, task, file, line, cause) AS rank, task,
  coroutine, file, line, function, iif(cause = PIE_TASK_RUNS, NULL, cause_name(cause)) AS cause,
  wait_ns / 1e9 AS wait_s, wait_ns / nullif(sum(wait_ns) OVER (PARTITION BY run), 0) AS wait_share, coroutine_file, coroutine_line,
  cpu_ns / 1e9 AS cpu_s, cpu_ns / nullif(sum(cpu_ns) OVER (PARTITION BY run), 0) AS cpu_share
FROM (
  SELECT s.run, s.task, uc.name AS coroutine, fc.path AS coroutine_file, uc.first_line AS coroutine_line, f.path AS file,
    l.line, u.name AS function, s.cause, total(s.wait_ns) AS wait_ns, total(s.cpu_ns) AS cpu_ns
  FROM (
    SELECT x.run, x.process, t.cause, nullif(t.name, '') AS task, coalesce(n.own_location, n.line_location) AS place,
      k.line_location AS begin, x.wait_ns * 1.0 * t.wait_ns / nullif(t.whole_ns, 0) AS wait_ns,
      x.cpu_ns * 1.0 * t.cpu_ns / nullif(t.whole_cpu_ns, 0) AS cpu_ns
    FROM (
      SELECT *, sum(wait_ns) OVER (PARTITION BY process, thread, node) AS whole_ns,
        sum(cpu_ns) OVER (PARTITION BY process, thread, node) AS whole_cpu_ns
      FROM task) t
    JOIN x_sample x ON x.process = t.process AND x.thread = t.thread AND x.node = t.node
    JOIN node n ON n.process = t.process AND n.id = t.node
    LEFT JOIN node k ON k.process = t.process AND k.id = t.coroutine) s
  LEFT JOIN place(l, u, f) AT (s.process, s.place)
  LEFT JOIN place(c, uc, fc) AT (s.process, s.begin)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9)
WHERE wait_ns + cpu_ns > 0;

-- The line is the innermost, as in v_line; the holder's is the innermost of own code, or of all.
CREATE VIEW v_wait AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY wait_ns DESC, file, line, function, cause, resource) AS rank,
  file, line, function, cause, resource, holder_file, holder_line, holder_function, holds_gil, wait_ns / 1e9 AS wait_s,
  wait_ns / nullif(sum(wait_ns) OVER (PARTITION BY run), 0) AS wait_share, library, user_file, user_line
FROM (
  SELECT s.run, f.path AS file, l.line, u.name AS function, s.cause, s.resource, fh.path AS holder_file,
    h.line AS holder_line, uh.name AS holder_function, s.holds_gil, sum(s.wait_ns) AS wait_ns,
    iif(f.is_own AND s.is_run_by_own, NULL, f.library) AS library,
    iif(f.is_own AND s.is_run_by_own, NULL, fo.path) AS user_file,
    iif(f.is_own AND s.is_run_by_own, NULL, o.line) AS user_line
  FROM (
    SELECT x.run, x.process, n.line_location, n.own_location, n.line_location IS n.own_location AS is_run_by_own,
      x.cause, x.resource, x.holds_gil, coalesce(k.own_location, k.line_location) AS holder, x.wait_ns
    FROM x_wait_cause x JOIN node n ON n.process = x.process AND n.id = x.node
    LEFT JOIN node k ON k.process = x.process AND k.id = x.peer) s
  LEFT JOIN place(l, u, f) AT (s.process, s.line_location)
  LEFT JOIN place(o, uo, fo) AT (s.process, s.own_location)
  LEFT JOIN place(h, uh, fh) AT (s.process, s.holder)
  GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14);
