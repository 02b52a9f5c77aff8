-- SPDX-License-Identifier: Apache-2.0
-- Common table expressions: what fixes of several wasteful lines save together, and in which calling contexts. Where one
-- line called another, the figures of both tell of the time below, which counts once.
--
-- The statement has before them: WITH wasteful AS MATERIALIZED (rank, file, line, cpu_s, wasted_s, wasted_s_low,
-- wasted_s_high): lines of own code, each once, as x_wasteful_line has them (views/wasteful.sql). :run is theirs.
-- Behind them it may ask for:
--
-- wasted_together: a row where there is a line, else none: their number, the sums in seconds, each no more than the
-- run's CPU time, whether lines share time, and the run's CPU time.
--
-- wasted_context (process, node, wasted_s): the same waste by calling context. Lines without samples are in none.
--
-- A line's waste lies where the line's own code was at work, or, where its time is nearer to that, in all that it
-- called too: evenly, by CPU time. Of a line, only what goes beyond the waste that others have there is added, in the
-- order of their parts: the calls of a function that come again may all be those of one line. For the upper end they
-- need not be. So there, in each context, the largest part counts, if that is more. Lines without samples add what
-- they have.
waste_child AS MATERIALIZED (
  SELECT n.process, n.parent, n.id FROM process p JOIN node n ON n.process = p.id
  WHERE p.run = :run AND n.parent IS NOT NULL AND EXISTS (SELECT 1 FROM wasteful)),
waste_below(rank, place, process, node) AS (
  SELECT w.rank, l.id, n.process, n.id
  FROM wasteful w JOIN process p ON p.run = :run JOIN file f ON f.process = p.id AND f.path = w.file
  JOIN function u ON u.process = p.id AND u.file = f.id
  JOIN location l ON l.process = p.id AND l.function = u.id AND l.line = w.line
  JOIN node n ON n.process = p.id AND n.location = l.id
  UNION
  SELECT b.rank, b.place, c.process, c.id
  FROM waste_below b JOIN waste_child c ON c.process = b.process AND c.parent = b.node),
waste_node AS MATERIALIZED (
  SELECT b.rank, b.process, b.node, s.cpu_ns, max(n.own_location = b.place) AS is_own
  FROM waste_below b JOIN node n ON n.process = b.process AND n.id = b.node
  JOIN (SELECT process, node, sum(cpu_ns) AS cpu_ns FROM x_sample
    WHERE run = :run AND EXISTS (SELECT 1 FROM wasteful) GROUP BY process, node) s
    ON s.process = b.process AND s.node = b.node
  WHERE s.cpu_ns > 0 GROUP BY b.rank, b.process, b.node),
waste_line AS MATERIALIZED (
  SELECT w.*, 1.0 * iif(is_all, all_ns, own_ns) AS cpu_ns
  FROM (
    SELECT w.*, all_ns, own_ns, coalesce(abs(1e9 * w.cpu_s - all_ns) < abs(1e9 * w.cpu_s - own_ns), 0) AS is_all
    FROM wasteful w LEFT JOIN (
      SELECT rank, sum(cpu_ns) AS all_ns, sum(cpu_ns * is_own) AS own_ns FROM waste_node GROUP BY rank) c
      ON c.rank = w.rank) w),
waste_part AS MATERIALIZED (
  SELECT *, max(min(1, part_s)) OVER m AS told_s, max(min(1, part_low)) OVER m AS told_low,
    max(min(1, part_high)) OVER m AS told_high, max(part_high) OVER (PARTITION BY process, node) AS most,
    row_number() OVER (PARTITION BY process, node) AS nth
  FROM (
    SELECT c.rank, c.process, c.node, c.cpu_ns / 1e9 AS s, 1e9 * wasted_s / w.cpu_ns AS part_s,
      1e9 * wasted_s_low / w.cpu_ns AS part_low, 1e9 * wasted_s_high / w.cpu_ns AS part_high
    FROM waste_line w JOIN waste_node c ON c.rank = w.rank AND (w.is_all OR c.is_own)
    WHERE w.cpu_ns > 0)
  WINDOW m AS (PARTITION BY process, node ORDER BY part_s DESC, rank ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)),
waste_added AS MATERIALIZED (
  SELECT w.*, told_s, max(0, wasted_s - coalesce(told_s, 0)) AS added_s,
    max(0, wasted_s_low - coalesce(told_low, 0)) AS added_low, max(0, wasted_s_high - coalesce(told_high, 0)) AS added_high
  FROM waste_line w LEFT JOIN (
    SELECT rank, total(s * told_s) AS told_s, total(s * told_low) AS told_low, total(s * told_high) AS told_high
    FROM waste_part GROUP BY rank) t ON t.rank = w.rank),
wasted_together AS MATERIALIZED (
  SELECT count(*) AS all_lines, min(sum(added_s), run_s) AS all_s, min(sum(added_s) / nullif(run_s, 0), 1) AS all_share,
    min(sum(added_low), run_s) AS all_s_low,
    min(max(sum(added_high), (SELECT total(s * most) FROM waste_part WHERE nth = 1)
      + sum(iif(told_s IS NULL, wasted_s_high, 0))), run_s) AS all_s_high,
    sum(added_s) < 0.99 * sum(wasted_s) AS is_shared, run_s
  FROM waste_added, (SELECT cpu_ns / 1e9 AS run_s FROM x_total WHERE run = :run)
  WHERE EXISTS (SELECT 1 FROM wasteful) HAVING count(*) > 0),
-- What a line adds lies where it has more than the others.
wasted_context AS (
  SELECT process, node, sum(wasted_s) AS wasted_s
  FROM (
    SELECT p.process, p.node, a.added_s * more_s / sum(more_s) OVER (PARTITION BY p.rank) AS wasted_s
    FROM (SELECT *, s * max(0, part_s - coalesce(told_s, 0)) AS more_s FROM waste_part) p
    JOIN waste_added a ON a.rank = p.rank
    WHERE more_s > 0 AND added_s > 0)
  GROUP BY process, node)
