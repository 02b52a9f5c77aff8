-- SPDX-License-Identifier: Apache-2.0
-- What the interpreter's own types and modules do for a line again and again, from the table reading: lists and tuples
-- that + copies, the next item that is chosen among all, texts that are searched for one pattern after the other, items
-- that islice() passes over, single numbers that struct unpacks, a csv.reader() for each line, and loops that only add
-- up, count or compare single elements. Below reads.sql, whose views give them times and names, but for
-- x_work_finding, which is above it.

-- All figures to tune are here.
CREATE VIEW x_work_threshold AS SELECT
  20 AS samples,           -- a line is named if this number of its samples tell of it,
  0.8 AS part,             -- and this part of those that tell of it or against it. Beside these:
  0.65 AS upper_part,      -- copies: this part of their time is above half of the last length (reads.sql),
  0.5 AS changed_part,     -- choices: in this part of the samples at least the list was another one than before,
  0.1 AS growing_part,     -- but with no more than this part of the time in which items had gone, it only grows;
  0.95 AS patterns_part,   -- patterns: in this part of those that met the text of the one before, it was another
                           -- pattern: twenty of them take turns at least,
  0.1 AS text_part,        -- and this part met that text,
  2 AS fields_lines,       -- single numbers: this number of lines of the function unpack some,
  10 AS fold_samples,      -- folds: of single lines this number of samples is enough,
  0.7 AS low, 1.2 AS high, -- a fix saves between these parts of the figure, as with other calls (calls_low);
  1.75 AS choice_high;     -- what is chosen is mostly searched for again to take it out, at another line

-- By line of own code, of which the calls are its own; but patterns are mostly searched by re. glue_ns: of folds, the
-- time of the lines of the loop that fetch nothing (for, count += 1), for each nanosecond of those that do.
CREATE VIEW x_work_place AS
SELECT run, process, place, line_location, kind, top_ns, reads_ns, g.samples, rises, same, others, max_size, risen_ns,
  upper_ns, lines, coalesce(glue_ns, 0) / nullif(fold_ns, 0) AS glue
FROM (
  SELECT y.*, l.function, sum(iif(y.rises > 0, 1, 0)) OVER f AS lines,
    sum(iif(y.rises > 0, y.reads_ns, 0)) OVER f AS fold_ns,
    sum(iif(y.rises = 0 AND y.others = 0, y.reads_ns, 0)) OVER f AS glue_ns
  FROM (
    SELECT p.run, r.process, n.own_location AS place, n.line_location, r.kind, max(r.cpu_ns) AS top_ns,
      sum(r.cpu_ns) * 1.0 AS reads_ns, sum(r.samples) AS samples, sum(r.rises) AS rises, sum(r.same) AS same,
      sum(r.others) AS others, max(r.max_size) AS max_size, sum(r.lower_ns + r.upper_ns) AS risen_ns,
      sum(r.upper_ns) * 1.0 AS upper_ns
    FROM process p JOIN reading r ON r.process = p.id AND r.kind > PIE_READ_SORT
    JOIN node n ON n.process = r.process AND n.id = r.node
    WHERE n.own_location IS NOT NULL AND (r.kind = PIE_READ_PATTERN OR n.line_location = n.own_location)
    GROUP BY p.run, r.process, n.own_location, r.kind) y
  JOIN location l ON l.process = y.process AND l.id = y.place
  WINDOW f AS (PARTITION BY y.run, y.process, y.kind, l.function)) g
JOIN x_work_threshold t
WHERE rises >= iif(kind = PIE_READ_FOLD, t.fold_samples, t.samples) AND CASE kind
    WHEN PIE_READ_PATTERN THEN rises >= t.patterns_part * (rises + same) AND rises + same >= t.text_part * (rises + same + others)
    ELSE rises >= t.part * (rises + others) END
  AND CASE kind
    WHEN PIE_READ_JOIN THEN risen_ns > 0 AND upper_ns >= t.upper_part * risen_ns
    WHEN PIE_READ_CHOICE THEN rises >= t.changed_part * (rises + same)
    WHEN PIE_READ_FIELD THEN lines >= t.fields_lines
    ELSE 1 END;

-- What a fix saves: what is passed over, or the making of a reader; of a choice and of a fold the time of these, with
-- the rest of the loop; else the whole line. told: it is no copy, and no list or text is read again.
CREATE VIEW x_work_finding AS
SELECT x.*, t.high_traps, t.high_low, t.high_part, t.high_share, t.z2, t.calls_high,
  w.low * x.saved_ns AS low_ns, min(x.run_ns, CASE
    WHEN x.kind = PIE_READ_CHOICE AND NOT x.is_growing THEN w.choice_high * x.saved_ns
    WHEN x.kind IN (PIE_READ_SKIP, PIE_READ_READER) THEN max(x.line_ns, w.high * x.saved_ns)
    ELSE w.high * x.saved_ns END) AS high_ns,
  CASE
    WHEN x.kind IN (PIE_READ_SKIP, PIE_READ_READER) THEN 'API misuse'
    WHEN x.kind IN (PIE_READ_FIELD, PIE_READ_FOLD) THEN 'slice underutilization'
    ELSE 'inefficient algorithm' END AS category,
  CASE
    WHEN x.kind = PIE_READ_JOIN THEN 1
    WHEN x.kind IN (PIE_READ_CHOICE, PIE_READ_PATTERN, PIE_READ_SKIP) THEN 3
    ELSE 4 END AS grows, CASE x.kind
    WHEN PIE_READ_JOIN THEN printf('each + copies all %d items that were there and adds a little, in %d of %d '
      || 'comparisons, so twice the calls take four times as long', x.max_size / 8, x.rises, x.rises + x.others)
    WHEN PIE_READ_CHOICE THEN iif(x.is_growing,
      printf('each call reads all that was there again: its argument grew to %s, and began as before in %d of %d '
      || 'comparisons', iif(x.max_size >= 125e3, printf('%.3g MB', x.max_size * 8 / 1e6), printf('%.3g kB', x.max_size * 8 / 1e3)),
      x.rises, x.rises + x.others), printf('each call looks at all items, up to %d, of which a few had changed in %d of %d '
      || 'comparisons', x.max_size, x.rises, x.rises + x.same + x.others))
    WHEN PIE_READ_PATTERN THEN printf('%d of %d comparisons met the text of before, up to %.3g kB, and another pattern',
      x.rises, x.rises + x.same + x.others, x.max_size / 1e3)
    WHEN PIE_READ_SKIP THEN printf('islice() begins anew, and passes over up to %d items before the first that it hands '
      || 'out: %d of %d samples met it there', x.max_size, x.rises, x.rises + x.others)
    WHEN PIE_READ_FIELD THEN printf('%d of %d samples met the unpacking of a single number, at %d lines of the function',
      x.rises, x.rises + x.others, x.lines)
    WHEN PIE_READ_READER THEN printf('%d of %d samples met the making of a csv.reader() for a single line', x.rises,
      x.rises + x.others)
    ELSE printf('each round of the loop fetches a single element, and only adds it up, counts it or keeps the greatest: '
      || '%d of %d samples at a[i] met text, bytes, a list or an array, in ranges of up to %d', x.rises,
      x.rises + x.others, x.max_size) END
  || CASE
    WHEN x.kind = PIE_READ_FOLD THEN printf('; with its part of the loop it takes %.3g s', x.saved_ns / 1e9)
    ELSE printf('; that takes %.3g of the line''s %.3g s', x.again_ns / 1e9, x.line_ns / 1e9) END AS evidence, (
    SELECT a.advice FROM x_advice a WHERE a.library = '*' AND a.about = CASE x.kind
      WHEN PIE_READ_JOIN THEN 'joined items'
      WHEN PIE_READ_CHOICE THEN iif(x.is_growing, 'growing argument', 'chosen again')
      WHEN PIE_READ_PATTERN THEN 'patterns in turn'
      WHEN PIE_READ_SKIP THEN 'skipped items'
      WHEN PIE_READ_FIELD THEN 'single numbers'
      WHEN PIE_READ_READER THEN 'reader of one line'
      ELSE 'fold' END) AS advice
FROM (
  SELECT r.*, iif(kind IN (PIE_READ_SKIP, PIE_READ_READER), upper_ns, reads_ns) AS again_ns,
    kind = PIE_READ_CHOICE AND upper_ns <= growing_part * risen_ns AS is_growing, min(run_ns, CASE kind
      WHEN PIE_READ_SKIP THEN upper_ns
      WHEN PIE_READ_READER THEN upper_ns
      WHEN PIE_READ_CHOICE THEN iif(upper_ns <= growing_part * risen_ns, line_ns, reads_ns)
      WHEN PIE_READ_FOLD THEN reads_ns * (1 + glue)
      ELSE line_ns END) AS saved_ns
  FROM x_reading_line r JOIN x_work_threshold WHERE kind > PIE_READ_SORT) x
JOIN x_threshold t JOIN x_work_threshold w
WHERE x.saved_ns >= t.high_share * x.run_ns AND x.again_ns >= t.high_low * x.line_ns;

-- As x_told_finding has them.
CREATE VIEW x_work_told AS
SELECT run, iif(grows = 1, PIE_WATCH_STORE, PIE_WATCH_LOAD), file, line, function, function_line, NULL, NULL,
  native_function, native_library, category, evidence, advice, NULL, NULL, NULL, saved_ns, low_ns, high_ns,
  again_ns, again_ns, NULL, line_ns, run_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  z2, high_traps, high_low, high_part, high_share, calls_high, 'high', grows, 1
FROM x_work_finding;
