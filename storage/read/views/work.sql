-- SPDX-License-Identifier: Apache-2.0
-- What the interpreter's own types and modules do for a line again and again, from the table reading: lists and tuples
-- that + copies, the next item that is chosen among all, texts that are searched for one pattern after the other, items
-- that islice() passes over, single numbers that struct unpacks, a csv.reader() for each line, and loops that only add
-- up, count, compare or set single elements. Below reads.sql, whose views give them times and names, but for
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

-- By line of own code, of which the calls are its own; but patterns are mostly searched by re. glue_ns: of folds and
-- fills, the time of the lines of the loop that fetch nothing (for, count += 1), for each nanosecond of those that do.
CREATE VIEW x_work_place AS
SELECT run, process, place, line_location, kind, top_ns, reads_ns, g.samples, rises, same, others, max_size, risen_ns,
  upper_ns, lines, coalesce(glue_ns, 0) / nullif(fold_ns, 0) AS glue
FROM (
  SELECT y.*, l.function, sum(y.rises > 0) OVER f AS lines, sum((y.rises > 0) * y.reads_ns) OVER f AS fold_ns,
    sum((y.rises + y.others = 0) * y.reads_ns) OVER f AS glue_ns
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
WHERE rises >= iif(kind >= PIE_READ_FOLD, t.fold_samples, t.samples) AND CASE kind
    WHEN PIE_READ_PATTERN THEN rises >= t.patterns_part * (rises + same) AND rises + same >= t.text_part * (rises + same + others)
    ELSE rises >= t.part * (rises + others) END
  AND CASE kind
    WHEN PIE_READ_JOIN THEN risen_ns > 0 AND upper_ns >= t.upper_part * risen_ns
    WHEN PIE_READ_CHOICE THEN rises >= t.changed_part * (rises + same)
    WHEN PIE_READ_FIELD THEN lines >= t.fields_lines
    ELSE 1 END;

-- The kinds with their words. is_growing: a choice among items of which none go. basis: of basis.sql. unit: of
-- size; an item has 8 bytes. with_same: comparisons that met the same count among those that were seen. is_part: the
-- upper part of its time is waste, the rest is not.
CREATE VIEW x_work_kind AS
SELECT column1 AS kind, column2 AS is_growing, column3 AS category, column4 AS basis, column5 AS about, column6 AS is_part,
  column7 AS unit, column8 AS with_same, column9 AS evidence
FROM (VALUES
  (PIE_READ_JOIN, 0, 'inefficient algorithm', PIE_BASIS_COPIES, 'joined items', 0, 'bytes as items', 0,
    'each + copies all {size} items that '
    || 'were there and adds a little, in {told} of {seen} comparisons, so twice the calls take four times as long'),
  (PIE_READ_CHOICE, 1, 'inefficient algorithm', PIE_BASIS_READS, 'growing argument', 0, 'items as bytes', 0,
    'each call reads all that '
    || 'was there again: its argument grew to {size}, and began as before in {told} of {seen} comparisons'),
  (PIE_READ_CHOICE, 0, 'inefficient algorithm', PIE_BASIS_READS, 'chosen again', 0, 'items', 1,
    'each call looks at all items, up to '
    || '{size}, of which a few had changed in {told} of {seen} comparisons'),
  (PIE_READ_PATTERN, 0, 'inefficient algorithm', PIE_BASIS_READS, 'patterns in turn', 0, 'bytes', 1,
    '{told} of {seen} comparisons met '
    || 'the text of before, up to {size}, and another pattern'),
  (PIE_READ_SKIP, 0, 'API misuse', PIE_BASIS_READS, 'skipped items', 1, 'items', 0,
    'islice() begins anew, and passes over up to {size} '
    || 'items before the first that it hands out: {told} of {seen} samples met it there'),
  (PIE_READ_FIELD, 0, 'slice underutilization', PIE_BASIS_ELEMENTS, 'single numbers', 0, 'items', 0,
    '{told} of {seen} samples met the '
    || 'unpacking of a single number, at {lines} lines of the function'),
  (PIE_READ_READER, 0, 'API misuse', PIE_BASIS_ELEMENTS, 'reader of one line', 1, 'items', 0,
    '{told} of {seen} samples met the making of a '
    || 'csv.reader() for a single line'),
  (PIE_READ_FOLD, 0, 'slice underutilization', PIE_BASIS_ELEMENTS, 'fold', 0, 'items', 0, 'each round of the loop fetches a single element,
    '
    || 'and only adds it up, counts it or keeps the greatest: {told} of {seen} samples at a[i] met text, bytes, a list or '
    || 'an array, in ranges of up to {size}'),
  (PIE_READ_FILL, 0, 'slice underutilization', PIE_BASIS_PUTS, 'fill', 0, 'items', 0, 'each round of the loop sets a single '
    || 'element to the same, or to that of another list: {told} of {seen} samples at a[i] met a list, bytes or an array, in '
    || 'ranges of up to {size}'));

-- What a fix saves: what is passed over, or the making of a reader; of a choice and of a fold the time of these, with
-- the rest of the loop; else the whole line.
CREATE VIEW x_work_finding AS
SELECT x.*, t.high_traps, t.high_low, t.high_part, t.high_share, t.z2, t.calls_high,
  w.low * x.saved_ns AS low_ns, min(x.run_ns, max(x.is_part * x.line_ns,
    iif(x.about = 'chosen again', w.choice_high, w.high) * x.saved_ns)) AS high_ns,
  replace(replace(replace(replace(x.template, '{told}', x.rises), '{lines}', coalesce(x.lines, '')), '{seen}',
      x.rises + x.others + iif(x.with_same, x.same, 0)), '{size}', CASE
    WHEN x.unit = 'items' THEN x.max_size
    WHEN x.unit = 'bytes as items' THEN x.max_size / 8
    WHEN x.bytes >= 1e6 THEN printf('%.3g MB', x.bytes / 1e6)
    ELSE printf('%.3g kB', x.bytes / 1e3) END) || iif(x.kind >= PIE_READ_FOLD,
    printf('; with its part of the loop it takes %.3g s', x.saved_ns / 1e9),
    printf('; that takes %.3g of the line''s %.3g s', x.again_ns / 1e9, x.line_ns / 1e9)) AS evidence,
  (SELECT a.advice FROM x_advice_any a WHERE a.about = x.about) AS advice
FROM (
  SELECT r.*, k.category, k.basis, k.about, k.is_part, k.unit, k.with_same, k.evidence AS template,
    r.max_size * iif(k.unit = 'bytes', 1, 8) AS bytes, iif(k.is_part, r.upper_ns, r.reads_ns) AS again_ns,
    min(r.run_ns, CASE
      WHEN k.is_part THEN r.upper_ns
      WHEN k.about = 'chosen again' THEN r.reads_ns
      WHEN r.kind >= PIE_READ_FOLD THEN r.reads_ns * (1 + r.glue)
      ELSE r.line_ns END) AS saved_ns
  FROM x_reading_line r JOIN x_work_threshold w
  JOIN x_work_kind k ON k.kind = r.kind
    AND k.is_growing = (r.kind = PIE_READ_CHOICE AND r.upper_ns <= w.growing_part * r.risen_ns)) x
JOIN x_threshold t JOIN x_work_threshold w
WHERE x.saved_ns >= t.high_share * x.run_ns AND x.again_ns >= t.high_low * x.line_ns;

-- As x_told_finding has them.
CREATE VIEW x_work_told AS
SELECT run, NULL, file, line, function, function_line, NULL, NULL,
  native_function, native_library, category, evidence, advice, NULL, NULL, NULL, saved_ns, low_ns, high_ns,
  again_ns, again_ns, NULL, line_ns, run_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  'high', basis, 1
FROM x_work_finding;
