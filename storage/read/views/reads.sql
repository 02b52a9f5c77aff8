-- SPDX-License-Identifier: Apache-2.0
-- Lines whose calls read all of one long value each time, from the table reading. Searches: `in`, index(), count() or
-- remove() of a list or tuple. Growing arguments: the same call again, but for one argument that begins as before and
-- is longer. Above the views of time.sql and growth.sql, below findings.sql. x_work_place has other kinds (work.sql).

-- All figures to tune are here.
CREATE VIEW x_reading_threshold AS SELECT
  20 AS samples,           -- a line is named if this number of its samples tell of it:
  0.8 AS same_part,        -- searches: this part at least met the list of the sample before: a set made of a list that
                           -- is searched once gains nothing,
  0.5 AS often_part,       -- or this part,
  10 AS often,             -- and each list is searched this often at least, since to pass over an item takes no longer
  100 AS item_ns,          -- than this,
  0.75 AS search_part,     -- and they are this part of the line's time: an item at the front is found as fast as in a
                           -- set, but the rest of the line then takes longer than the search
  0.8 AS rising_part,      -- growing arguments: of the samples that met another value than the one before, this part
                           -- met a longer one that began the same,
  0.65 AS upper_part,      -- and this part of their time is above half of the last length: 0.75 if calls take as long
                           -- as the value is, 0.5 if the length is of no matter to them
  0.8 AS search_low;       -- what a set takes for the same tests is at most a fifth of what the list takes

CREATE VIEW x_reading_place AS
SELECT p.run, r.process, n.own_location AS place, n.line_location, r.kind, max(r.cpu_ns) AS top_ns,
  sum(r.cpu_ns) * 1.0 AS reads_ns, sum(r.samples) AS samples, sum(r.rises) AS rises, sum(r.same) AS same,
  sum(r.others) AS others, max(r.max_size) AS max_size,
  sum(r.lower_ns + r.upper_ns) AS risen_ns, NULL AS upper_ns, NULL AS lines, NULL AS glue
FROM process p JOIN reading r ON r.process = p.id AND r.kind <= PIE_READ_SORT JOIN node n ON n.process = r.process AND n.id = r.node
JOIN x_reading_threshold t
WHERE n.own_location IS NOT NULL AND (r.kind <> PIE_READ_SEARCH OR n.line_location = n.own_location)
GROUP BY p.run, r.process, n.own_location, r.kind
HAVING iif(r.kind = PIE_READ_SEARCH,
  sum(r.same + r.rises) >= max(t.samples) AND (sum(r.same + r.rises) >= max(t.same_part) * sum(r.same + r.rises + r.others)
    OR (sum(r.same + r.rises) >= max(t.often_part) * sum(r.same + r.rises + r.others)
      AND sum(r.cpu_ns) * sum(r.samples) >= max(1.0 * t.often * t.item_ns) * sum(r.sum_size) * (1 + sum(r.others)))),
  sum(r.rises) >= max(t.samples) AND sum(r.rises) >= max(t.rising_part) * sum(r.rises + r.others)
    AND (r.kind = PIE_READ_SORT OR (sum(r.lower_ns + r.upper_ns) > 0
      AND sum(r.upper_ns) >= max(t.upper_part) * sum(r.lower_ns + r.upper_ns))))
UNION ALL
SELECT * FROM x_work_place;

-- With times. Few lines come so far, so each looks for itself, and a run without such lines costs nothing. By kind, and
-- of a line the kind that takes most. (Windows of one level share their parts, else SQLite reads all runs for one.)
CREATE VIEW x_reading_kind AS
SELECT * FROM (
  SELECT x.*, f.path AS file, l.line, u.name AS function, u.first_line AS function_line, ne.name AS native_function,
    me.name AS native_library, coalesce(nullif(fi.library, 'python'), me.name) AS advice_library, a.cpu_ns * 1.0 AS run_ns,
    iif(f.is_own AND x.line_location IS NOT x.place, fi.library, NULL) AS below,
    sum(x.place_ns) OVER g AS line_ns, sum(x.reads_ns) OVER g AS all_reads_ns,
    sum(x.upper_ns) OVER g AS all_upper_ns,
    row_number() OVER (PARTITION BY x.run, f.path, l.line, x.kind ORDER BY x.reads_ns DESC, x.process) AS nth
  FROM (
    SELECT g.*, (
        SELECT sum(s.cpu_ns) * 1.0 FROM x_sample s JOIN node n ON n.process = s.process AND n.id = s.node
        WHERE s.run = g.run AND s.process = g.process AND n.own_location = g.place) AS place_ns, (
        SELECT n.entry_function FROM x_sample s JOIN node n ON n.process = s.process AND n.id = s.node
        WHERE s.run = g.run AND s.process = g.process AND n.own_location = g.place AND n.entry_function IS NOT NULL
        GROUP BY n.entry_function ORDER BY sum(s.cpu_ns) DESC LIMIT 1) AS entry_function
    FROM x_reading_place g) x
  JOIN x_total a ON a.run = x.run
  JOIN place(l, u, f) AT (x.process, x.place)
  LEFT JOIN place(i, ui, fi) AT (x.process, x.line_location)
  LEFT JOIN function ne ON ne.process = x.process AND ne.id = x.entry_function
  LEFT JOIN x_module me ON me.process = ne.process AND me.id = ne.module
  WINDOW g AS (PARTITION BY x.run, f.path, l.line, x.kind))
WHERE nth = 1 AND (below IS NULL OR below = 'python' OR EXISTS (SELECT 1 FROM x_array_library b WHERE below GLOB b.library));

CREATE VIEW x_reading_line AS
SELECT run, kind, file, line, function, function_line, native_function, native_library, advice_library, line_ns, rises,
  same, others, risen_ns, max_size, all_reads_ns AS reads_ns, all_upper_ns AS upper_ns, lines, glue, run_ns
FROM (
  SELECT *, row_number() OVER (PARTITION BY run, file, line ORDER BY all_reads_ns DESC, kind) AS of_line
  FROM x_reading_kind)
WHERE of_line = 1;

-- A search costs nothing where a set is, but the rest of the line stays. A call that reads all again is not needed any
-- more, nor what leads to it.
CREATE VIEW x_reading_finding AS
SELECT x.*, t.high_traps, t.high_low, t.high_part, t.high_share, t.z2, t.calls_high,
  iif(x.kind = PIE_READ_SEARCH, x.reads_ns, x.line_ns) AS saved_ns,
  iif(x.kind = PIE_READ_SEARCH, s.search_low * x.reads_ns, t.calls_low * x.line_ns) AS low_ns,
  min(x.run_ns, t.calls_high * iif(x.kind = PIE_READ_SEARCH, x.reads_ns, x.line_ns)) AS high_ns,
  iif(x.kind = PIE_READ_SEARCH,
    printf('each test reads up to %d items of one list%s; the tests take %.3g of the line''s %.3g s', x.max_size,
      iif(x.risen_ns > 0, ', which grows, so twice the items take four times as long', ''), x.reads_ns / 1e9, x.line_ns / 1e9),
    printf('each call %s again: %s grew to %s, %s in %d of %d comparisons, and nothing else changed, so twice the '
      || 'calls take four times as long; these calls take %.3g of the line''s %.3g s',
      iif(x.kind = PIE_READ_SORT, 'sorts all that was sorted', 'reads all that was there'),
      iif(x.kind = PIE_READ_SORT, 'the list', 'its argument'),
      CASE
        WHEN x.kind = PIE_READ_SORT THEN printf('%d items', x.max_size / 8)
        WHEN x.max_size >= 1e6 THEN printf('%.3g MB', x.max_size / 1e6)
        ELSE printf('%.3g kB', x.max_size / 1e3) END,
      iif(x.kind = PIE_READ_SORT, 'with the items of before', 'and began as before'), x.rises, x.rises + x.others,
      x.reads_ns / 1e9, x.line_ns / 1e9)) AS evidence, (
    SELECT a.advice FROM x_advice a WHERE a.about = CASE
        WHEN x.kind = PIE_READ_SEARCH THEN 'searched list'
        WHEN x.kind = PIE_READ_SORT THEN 'sorted again'
        ELSE 'growing argument' END AND coalesce(x.advice_library, '') GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1) AS advice
FROM x_reading_line x JOIN x_threshold t JOIN x_reading_threshold s
WHERE x.kind <= PIE_READ_SORT AND x.reads_ns >= t.high_share * x.run_ns
  AND x.reads_ns >= iif(x.kind = PIE_READ_SEARCH, s.search_part, t.high_low) * x.line_ns;
