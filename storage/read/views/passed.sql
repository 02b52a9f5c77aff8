-- SPDX-License-Identifier: Apache-2.0
-- Lines that go through all items of a list again and again, as counted windows saw it (the table passed): each call is
-- known, with the list that it met. Samples of time say the same of longer lists (reads.sql). And lines that make code
-- of the same text, arrays of the same lists, products with arrays of zeros, or numbers of slices. Below findings.sql.

-- All figures to tune are here. kind: of the table.
CREATE VIEW x_passed_kind AS
SELECT column1 AS kind, column2 AS calls, column3 AS items, column4 AS carried_part, column5 AS line_part, column6 AS item_ns,
  column7 AS item_ns_max, column8 AS low, column9 AS high, column10 AS about, column11 AS basis, column12 AS category,
  column13 AS evidence
FROM (VALUES
  -- A set made of a list that is searched once gains nothing. A search that takes less time found its item at the
  -- front.
  (1, 50, 32, 0.9, 0.75, 2, NULL, 0.8, 1.2, 'searched list', PIE_BASIS_SEARCHES, 'inefficient algorithm', 'of {calls} searches that were counted, {carried} met a list '
    || 'of those just before, of {items} items on average'),
  -- What a slice has made is cut again. Where as many items were added as cut off, nobody knows.
  (2, 20, 32, 0.4, 0.5, 0, NULL, 0.7, 1.2, 'slices of slices', PIE_BASIS_SLICES, 'inefficient algorithm', 'of {calls} slices that were counted, {carried} at least were '
    || 'cut from what the one before had copied, {items} items on average, so twice the items take four times as long'),
  (3, 50, 256, 0.9, 0.5, 0, NULL, 0.7, 1.2, 'shifts', PIE_BASIS_COUNTED_SHIFTS, 'inefficient algorithm', 'of {calls} calls that were counted, {carried} moved items of a list '
    || 'of those just before, {items} on average'),
  -- Another text is made into code once in a while. The work of the code itself is at its own lines.
  (4, 20, 0, 0.9, 0.5, 0, NULL, 0.7, 1.2, 'text made into code', PIE_BASIS_CODE, 'repeated native calls', 'of {calls} calls that were '
    || 'counted, {carried} made code of text that had been made into code before, of {items} characters on average'),
  -- Some 40 ns for each number. Where a call takes longer, it does something else, too.
  (5, 50, 32, 0.9, 0.5, 0, 100, 0.7, 1.2, 'lists made into arrays', PIE_BASIS_LISTS, 'repeated native calls', 'of {calls} calls that '
    || 'were counted, {carried} made arrays of lists of which arrays had been made before, of {items} numbers on average'),
  -- The array need not be made either, often at another line.
  (6, 20, 1024, 0.9, 0.3, 0, NULL, 0.7, 2, 'arrays of zeros', PIE_BASIS_ZEROS, 'API misuse', '{calls} products that were counted '
    || 'read an array of which 98 % at least is zero, of {items} elements on average'),
  -- Numbers at places that a range gives, each with a slice and a call of its own: the whole line is wasted.
  (7, 100, 1, 0.9, 0.4, 0, NULL, 0.7, 1.2, 'numbers of slices', PIE_BASIS_ELEMENTS, 'slice underutilization', '{calls} calls that were '
    || 'counted made one number each, of {items} bytes on average, at places that a range gives'),
  -- The array need not be made either.
  (8, 20, 4096, 0.9, 0.3, 0, NULL, 0.7, 2, 'systems of zeros', PIE_BASIS_SYSTEMS, 'inefficient algorithm', '{calls} calls that were '
    || 'counted solved or factored an array of which 94 % at least is zero, of {items} elements on average'),
  -- Where a number takes less, the library has made one array of them first.
  (9, 8, 64, 0.9, 0.3, 10, NULL, 0.7, 1.2, 'lists of arrays', PIE_BASIS_ARRAYS, 'API misuse', '{calls} calls that were counted '
    || 'took lists of arrays number by number, {items} numbers on average'),
  -- Of n items that all changed, none would be carried; of which half changed, half. What is chosen is mostly searched
  -- for again to take it out, at another line (work.sql).
  (10, 12, 32, 0.6, 0.5, 2, NULL, 0.7, 1.75, 'chosen again', PIE_BASIS_SEARCHES, 'inefficient algorithm', 'of {calls} calls that were '
    || 'counted, {carried} chose among the items of the call before, of which a few had changed, {items} on average'));

-- By callee, with the part of the line's counted time that its calls take.
CREATE VIEW x_passed_line AS
SELECT * FROM (
  SELECT p.run, w.process, w.file, w.line, w.kind, w.calls, w.carried, 1.0 * w.items / w.calls AS items, w.line_ns,
    1.0 * w.call_ns / (
      SELECT sum(c.call_ns) FROM windowed c WHERE c.process = w.process AND c.file = w.file AND c.line = w.line) AS part,
    k.about, k.basis, k.line_part, k.low, k.high, k.category, k.evidence,
    row_number() OVER (PARTITION BY p.run, w.file, w.line ORDER BY w.call_ns DESC, w.callee) AS nth
  FROM process p JOIN passed w ON w.process = p.id JOIN x_passed_kind k ON k.kind = w.kind
  WHERE w.calls >= k.calls AND w.items >= k.items * w.calls AND w.carried >= k.carried_part * w.calls
    AND w.call_ns >= k.item_ns * w.items AND (k.item_ns_max IS NULL OR w.call_ns <= k.item_ns_max * w.items)
    AND (w.kind <> 7 OR EXISTS (SELECT 1 FROM windowed r WHERE r.process = w.process AND r.file = w.file AND r.line = w.line
      AND r.callee = 'for x in range_iterator' AND r.calls >= k.carried_part * w.calls)))
WHERE nth = 1 AND part >= line_part;

-- As x_told_finding has them.
CREATE VIEW x_passed_told AS
SELECT x.run, NULL, x.file, x.line, x.function, x.function_line, NULL, NULL, NULL, NULL,
  x.category, replace(replace(replace(x.evidence, '{calls}', x.calls), '{carried}', x.carried), '{items}',
    printf('%.0f', x.items)) || printf('; that takes %.3g of the line''s %.3g s', x.saved_ns / 1e9, x.line_ns / 1e9), (
    SELECT a.advice FROM x_advice_any a WHERE a.about = x.about),
  NULL, NULL, NULL, x.saved_ns, x.low * x.saved_ns, min(a.cpu_ns, x.high * x.saved_ns), x.saved_ns,
  x.saved_ns, NULL, x.line_ns, a.cpu_ns * 1.0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  'high', x.basis, 1
FROM (
  SELECT y.*, y.line_ns * iif(y.kind = 7, 1, y.part) AS saved_ns, u.name AS function, u.first_line AS function_line
  FROM x_passed_line y
  LEFT JOIN (
    SELECT l.process, f.path, l.line, n.name, n.first_line, row_number() OVER (
        PARTITION BY l.process, f.path, l.line ORDER BY n.first_line DESC) AS nth
    FROM location l JOIN function n ON n.process = l.process AND n.id = l.function
    JOIN file f ON f.process = n.process AND f.id = n.file
    WHERE n.kind = PIE_LOCATION_PYTHON) u
    ON u.process = y.process AND u.path = y.file AND u.line = y.line AND u.nth = 1) x
JOIN x_total a ON a.run = x.run JOIN x_threshold t
WHERE x.saved_ns >= t.high_share * a.cpu_ns;
