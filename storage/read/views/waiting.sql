-- SPDX-License-Identifier: Apache-2.0
-- Why lines wait. Above the views of time.sql.

-- Time off the CPU, divided by its reasons. They are known of all slices together; of a part of the time they are taken
-- to have the same proportions. A file without them has one, which is not known.
CREATE VIEW x_wait_part AS
SELECT s.run, s.process, s.thread, s.node, coalesce(w.cause, PIE_WAIT_UNKNOWN) AS cause, nullif(w.resource, '') AS resource,
  nullif(w.peer, 0) AS peer, coalesce(w.holds_gil, 0) AS holds_gil,
  coalesce(s.wait_ns * 1.0 * w.wait_ns / (SELECT nullif(sum(z.wait_ns), 0) FROM wait z
    WHERE z.process = s.process AND z.thread = s.thread AND z.node = s.node), s.wait_ns) AS wait_ns
FROM x_sample s LEFT JOIN wait w ON w.process = s.process AND w.thread = s.thread AND w.node = s.node
WHERE s.wait_ns <> 0;

CREATE VIEW x_wait_cause AS
SELECT run, process, thread, node, resource, peer, holds_gil, wait_ns, cause_name(cause) AS cause
FROM x_wait_part;

-- By slice of the run (slices.sql). A context's causes have the same proportions in each of its slices.
CREATE VIEW x_context_cause AS
SELECT process, thread, node, cause, sum(wait_ns) AS wait_ns,
  sum(sum(wait_ns)) OVER (PARTITION BY process, thread, node) AS whole_ns
FROM wait
GROUP BY process, thread, node, cause;

CREATE VIEW x_slice_wait AS
SELECT run, slice, cause_name(cause) AS cause, wait_ns
FROM (
  SELECT p.run, (p.started_ns + s.slice_s * 1000000000 - w.started_ns) / 1000000000 / w.width_s + 1 AS slice,
    coalesce(c.cause, PIE_WAIT_UNKNOWN) AS cause,
    sum(coalesce(s.wait_ns * 1.0 * c.wait_ns / nullif(c.whole_ns, 0), s.wait_ns)) AS wait_ns
  FROM process p JOIN x_slice_width w ON w.run = p.run JOIN sample s ON s.process = p.id
  LEFT JOIN x_context_cause c ON c.process = s.process AND c.thread = s.thread AND c.node = s.node
  WHERE s.wait_ns <> 0
  GROUP BY 1, 2, 3);

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
