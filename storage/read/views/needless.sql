-- SPDX-License-Identifier: Apache-2.0
-- Needless copies: lines whose copies and their sources are not written before one of the two is freed (copy_end).
-- Above the views of time.sql and growth.sql.

-- All figures to tune are here. By the rule of three, 20 copies without a write tell that fewer than 3/20 of all have
-- one; 8 of which a register watches one word of two miss whole data that are written with the same values in 1 of 256.
CREATE VIEW x_needless_threshold AS SELECT
  20 AS copies,            -- a line is decided: this number of its copies were followed,
  8 AS watched,            -- with a register to the end in this number,
  0.8 AS share,            -- and this part of them at least (low end) is needless; or at most this part (high end) is:
  0.5 AS needed_share,     -- it is needed
  0.05 AS run_share,       -- told in the summary: what the needless copies take of the run
  3.841458820694124 AS z2; -- 95 %

-- By line of own code, or of a library where there is none: what became of its copies, and, of the contexts that made
-- them, all copied bytes and the CPU time: what copies, and the C library's function right below it.
CREATE VIEW x_needless_part AS
SELECT p.run, e.process, coalesce(n.own_location, n.line_location) AS place, e.copies,
  iif(e.outcome IN (PIE_COPY_NEEDLESS, PIE_COPY_UNSURE, PIE_COPY_REWRITTEN), e.copies, 0) AS equal,
  iif(e.outcome = PIE_COPY_NEEDLESS, e.copies, 0) AS watched,
  iif(e.outcome = PIE_COPY_REWRITTEN, e.copies, 0) AS rewritten, 0 AS bytes, NULL AS cpu_ns
FROM process p JOIN copy_end e ON e.process = p.id JOIN node n ON n.process = e.process AND n.id = e.node
UNION ALL
SELECT p.run, c.process, coalesce(n.own_location, n.line_location), 0, 0, 0, 0, c.bytes, NULL
FROM process p JOIN copy c ON c.process = p.id JOIN node n ON n.process = c.process AND n.id = c.node
WHERE EXISTS (SELECT 1 FROM copy_end e WHERE e.process = c.process AND e.node = c.node)
UNION ALL
SELECT s.run, s.process, coalesce(n.own_location, n.line_location), 0, 0, 0, 0, 0, s.cpu_ns
FROM x_sample s CROSS JOIN node n ON n.process = s.process AND n.id = s.node
WHERE (s.process, s.node) IN (
  SELECT process, node FROM copy_end
  UNION ALL
  SELECT process, id FROM node WHERE (process, parent) IN (SELECT process, node FROM copy_end));

-- Of copies that are equal, some were written all the same; a register on one of the two sees half of those. A line
-- that grows has no needless copies, though each of them is like its source.
CREATE VIEW x_needless_place AS
SELECT run, process, place, copies, watched, bytes, cpu_ns,
  equal * (1 - min(1, 2.0 * rewritten / max(1, watched + rewritten))) AS needless
FROM (
  SELECT run, process, place, sum(copies) AS copies, sum(equal) AS equal, sum(watched) AS watched,
    sum(rewritten) AS rewritten, sum(bytes) AS bytes, sum(cpu_ns) AS cpu_ns
  FROM x_needless_part WHERE place IS NOT NULL
  GROUP BY run, process, place)
WHERE copies > 0 AND (process, place) NOT IN (SELECT process, place FROM x_growing_place);

CREATE VIEW x_needless_line AS
SELECT run, file, line, function, library, all_copies AS copies, all_watched AS watched, all_bytes AS bytes,
  all_cpu_ns AS cpu_ns, all_needless / all_copies AS p, z2 / all_copies AS h
FROM (
  SELECT x.run, f.path AS file, l.line, u.name AS function, iif(f.is_own, NULL, f.library) AS library, t.z2,
    sum(x.copies) OVER g AS all_copies, sum(x.watched) OVER g AS all_watched, sum(x.needless) OVER g AS all_needless,
    sum(x.bytes) OVER g AS all_bytes, sum(x.cpu_ns) OVER g AS all_cpu_ns,
    row_number() OVER (PARTITION BY x.run, f.path, l.line ORDER BY x.copies DESC, x.process, x.place) AS nth
  FROM x_needless_place x JOIN x_needless_threshold t
  JOIN place(l, u, f) AT (x.process, x.place)
  WINDOW g AS (PARTITION BY x.run, f.path, l.line))
WHERE nth = 1;

-- Bytes and time are those of the needless part.
CREATE VIEW v_needless AS
SELECT x.run, row_number() OVER (PARTITION BY x.run ORDER BY verdict <> 'needless', verdict = 'needed',
    p * x.cpu_ns DESC, p * bytes DESC, file, line) AS rank,
  file, line, function, p AS needless_share, low AS needless_low, high AS needless_high, verdict,
  CAST(p * bytes AS INTEGER) AS bytes, p * x.cpu_ns / 1e9 AS cpu_s, p * x.cpu_ns / nullif(a.cpu_ns, 0) AS cpu_share, copies,
  watched, library
FROM (
  SELECT x.*, CASE
      WHEN x.copies >= t.copies AND x.watched >= t.watched AND low >= t.share THEN 'needless'
      WHEN x.copies >= t.copies AND high <= t.needed_share THEN 'needed'
      ELSE 'undecided' END AS verdict
  FROM (
    SELECT *, max(0, (p + h / 2 - sqrt(h * p * (1 - p) + h * h / 4)) / (1 + h)) AS low,
      min(1, (p + h / 2 + sqrt(h * p * (1 - p) + h * h / 4)) / (1 + h)) AS high
    FROM x_needless_line) x
  JOIN x_needless_threshold t) x
JOIN x_total a ON a.run = x.run;
