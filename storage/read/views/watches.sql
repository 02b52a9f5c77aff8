-- SPDX-License-Identifier: Apache-2.0
-- Redundant loads and stores (PieProf 3.1, 4.2): what each row of the table watch says, and sums of it by line, native
-- function and partner. Above the views of time.sql, below watched_lines.sql.

-- Watches by what they say. A trap: the next access was seen. Bulk work repeats in machine code or is to an array's
-- data. Waste shows in stores, and of the loads those in short calls that are no bulk work: they look up again
-- what objects are like, to do little. The same result by other arguments repeats nothing. is_item, inner_is_item: own
-- code, or the innermost Python code, was at a[i], a[i] = x or a for loop.
CREATE VIEW x_watched AS
SELECT p.run, p.sampler, w.*,
  w.outcome = PIE_WATCH_REDUNDANT AND w.traits & PIE_WATCH_OTHER_ARGUMENTS = 0 AS is_redundant,
  w.outcome = PIE_WATCH_CHANGED OR (w.outcome = PIE_WATCH_REDUNDANT AND w.traits & PIE_WATCH_OTHER_ARGUMENTS <> 0)
    AS is_changed,
  w.outcome IN (PIE_WATCH_REDUNDANT, PIE_WATCH_CHANGED) AS is_trap,
  w.traits & PIE_WATCH_IN_LOOP <> 0 OR w.memory = PIE_WATCH_MEMORY_ARRAY AS is_bulk,
  w.kind = PIE_WATCH_STORE OR
    (w.length < 2 AND w.traits & PIE_WATCH_IN_LOOP = 0 AND w.memory <> PIE_WATCH_MEMORY_ARRAY) AS is_telling,
  w.memory IN (PIE_WATCH_MEMORY_RETURNED, PIE_WATCH_MEMORY_CALL) AS is_asked,
  w.traits & PIE_WATCH_SAMPLED <> 0 AS is_sampled,
  w.traits & PIE_WATCH_PARTLY <> 0 AS is_partly_same, w.traits & PIE_WATCH_ARGUMENTS <> 0 AS is_argued,
  w.traits & PIE_WATCH_FIRST_SEEN <> 0 AS is_first_seen, w.traits & PIE_WATCH_SEEN_BEFORE <> 0 AS is_seen_before,
  CASE -- how many different values were equal, if that is no coincidence: the same arguments or long values are none
    WHEN w.kind = PIE_WATCH_LOAD THEN 0
    WHEN w.traits & PIE_WATCH_PARTLY <> 0 AND w.outcome = PIE_WATCH_CHANGED THEN 8
    WHEN w.outcome <> PIE_WATCH_REDUNDANT OR w.traits & (PIE_WATCH_OTHER_ARGUMENTS | PIE_WATCH_WEAK) <> 0 THEN 0
    WHEN w.traits & PIE_WATCH_NEW_VALUE <> 0 THEN 1
    ELSE 8 END AS equal_values,
  w.own_operation & PIE_OPERATION_MASK IN
    (PIE_OPERATION_SUBSCRIPT, PIE_OPERATION_STORE_SUBSCRIPT, PIE_OPERATION_ITERATE) AS is_item,
  w.inner_operation & PIE_OPERATION_MASK IN
    (PIE_OPERATION_SUBSCRIPT, PIE_OPERATION_STORE_SUBSCRIPT, PIE_OPERATION_ITERATE) AS inner_is_item
FROM process p JOIN watch w ON w.process = p.id;

-- Lines of own code of whose own calls enough were compared, where Python code was at work for them.
CREATE VIEW x_outer AS
SELECT w.process, n.own_location AS place
FROM x_watched w JOIN node n ON n.process = w.process AND n.id = w.first_node
WHERE w.traits & PIE_WATCH_OUTER_CALL <> 0 AND w.is_trap
GROUP BY w.process, n.own_location HAVING sum(w.watches) >= (SELECT arguments_min FROM x_threshold);

-- Each at the line of own code of its first access and, if that is another, at the line of library code. What a[i]
-- returned is left out: it was fetched and not computed. Where a line's own calls decide, what library code called
-- below it is left out there: one call of the line makes others, the same or not, in turn. So is what an iterator of a
-- library called: the for line makes no call that could be kept. Where own code was at a[i], that is what library code
-- below it was about.
CREATE VIEW x_watch AS
SELECT w.*, r.is_own, iif(r.is_own, n.own_location, n.line_location) AS place,
  iif(r.is_own, NULL, n.own_location) AS user_place, n.location, n.line_location, n.entry_function,
  iif(r.is_own OR w.is_item, w.own_operation, w.inner_operation) & PIE_OPERATION_MASK AS operation,
  iif(r.is_own OR w.is_item, w.own_operation, w.inner_operation) & PIE_OPERATION_IN_LOOP <> 0 AS is_in_loop,
  w.is_asked AND w.is_trap AS is_returned, w.is_changed AND w.is_partly_same AS is_partly
FROM x_watched w JOIN node n ON n.process = w.process AND n.id = w.first_node
JOIN (SELECT 1 AS is_own UNION ALL SELECT 0) r ON r.is_own OR n.line_location IS NOT n.own_location
WHERE NOT (w.is_asked AND w.inner_is_item) AND NOT (r.is_own AND w.is_asked AND w.traits & PIE_WATCH_OUTER_CALL = 0
  AND n.line_location IS NOT n.own_location AND (w.own_operation & PIE_OPERATION_MASK = PIE_OPERATION_ITERATE
    OR (w.process, n.own_location) IN (SELECT process, place FROM x_outer)));

-- Sums by line and by the native function that it called: of all watches, of those whose next access was seen (all_…),
-- and of the telling ones among these (tell_…), split by what is known of them. user_place, location and sampler are
-- those of the heaviest redundant one in a slice: SQLite takes what is neither grouped nor summed from the row where
-- max() found its value. asked: of outer calls one in eight is asked, of others one in two. Calls of which arguments
-- were sampled and no result is known say what the line does (x_line_arguments), and nothing of what was done again.
CREATE VIEW x_watch_sum AS
SELECT run, process, kind, place, entry_function, user_place, location, line_location, sampler,
  max(iif(is_redundant, weight_ns * iif(is_telling, 1000, 1), 0)) AS top_ns, sum(watches) AS watches,
  sum(weight_ns) AS ns, sum(weight_sq_ns2) AS sq,
  sum(iif(length = 0 AND NOT is_bulk, weight_ns, 0)) AS length_0_ns,
  sum(iif(length = 1 AND NOT is_bulk, weight_ns, 0)) AS length_1_ns,
  sum(iif(length = 2 AND NOT is_bulk, weight_ns, 0)) AS length_2_ns,
  sum(is_trap * watches) AS all_traps, sum(is_redundant * watches) AS all_redundant,
  sum(is_redundant * bytes) AS all_bytes, sum(is_trap * weight_ns) AS all_ns,
  sum(is_redundant * weight_ns) AS all_redundant_ns, sum(is_trap * weight_sq_ns2) AS all_sq,
  sum(iif(is_telling AND is_trap, watches, 0)) AS tell_traps,
  sum(iif(is_telling AND is_redundant, watches, 0)) AS tell_redundant,
  sum(iif(is_telling AND is_redundant, bytes, 0)) AS tell_bytes,
  sum(iif(is_telling AND is_trap, weight_ns, 0)) AS tell_ns,
  sum(iif(is_telling AND is_redundant, weight_ns, 0)) AS tell_redundant_ns,
  sum(iif(is_telling AND is_trap, weight_sq_ns2, 0)) AS tell_sq,
  sum(is_redundant * length_ns) AS all_length_ns,
  sum(iif(is_telling AND is_redundant, length_ns, 0)) AS tell_length_ns,
  sum(iif(is_telling AND is_redundant AND operation IN
    (PIE_OPERATION_SUBSCRIPT, PIE_OPERATION_STORE_SUBSCRIPT, PIE_OPERATION_ITERATE), weight_ns, 0)) AS item_ns,
  sum(iif(is_telling AND is_redundant AND operation = PIE_OPERATION_STORE_SUBSCRIPT, weight_ns, 0)) AS put_ns,
  sum(iif(is_telling AND is_redundant AND operation = PIE_OPERATION_OTHER, weight_ns, 0)) AS unknown_ns,
  sum(iif(is_telling AND is_redundant AND operation IN (PIE_OPERATION_CALL, PIE_OPERATION_OPERATOR), weight_ns, 0)) AS call_ns,
  sum(iif(is_telling AND is_redundant AND is_in_loop, weight_ns, 0)) AS loop_ns,
  sum(iif(is_telling AND is_redundant AND is_bulk, weight_ns, 0)) AS bulk_ns,
  sum(iif(is_telling AND is_redundant AND memory = PIE_WATCH_MEMORY_OBJECT, weight_ns, 0)) AS object_ns,
  sum(iif(is_telling AND is_redundant AND memory = PIE_WATCH_MEMORY_ARRAY, weight_ns, 0)) AS array_ns,
  sum(iif(is_telling AND is_redundant AND memory = PIE_WATCH_MEMORY_RESULT, weight_ns, 0)) AS result_ns,
  sum(iif(is_asked, iif(traits & PIE_WATCH_OUTER_CALL <> 0, 4, 1) * watches, 0)) AS asked,
  sum(is_returned * watches) AS returned_traps, sum(is_returned * weight_ns) AS returned_ns,
  sum(is_returned * weight_sq_ns2) AS returned_sq,
  sum(iif(is_returned AND (is_redundant OR is_partly), length_ns, 0)) AS returned_length_ns,
  sum(iif(is_returned AND (is_redundant OR is_partly), bytes, 0)) AS returned_bytes,
  sum(iif(is_returned AND line_location IS NOT place, weight_ns, 0)) AS returned_below_ns,
  sum(iif(is_returned AND is_redundant, watches, 0)) AS returned_redundant,
  sum(iif(is_returned AND is_redundant, weight_ns, 0)) AS returned_redundant_ns,
  sum(iif(is_returned AND is_partly, watches, 0)) AS returned_partly,
  sum(iif(is_returned AND is_partly, weight_ns, 0)) AS returned_partly_ns,
  sum(iif(is_returned AND (is_redundant OR is_partly) AND is_in_loop, weight_ns, 0)) AS returned_loop_ns,
  sum(equal_values * watches) AS equal_values, sum(iif(is_asked, equal_values * watches, 0)) AS returned_values
FROM x_watch WHERE NOT is_sampled GROUP BY run, process, kind, is_own, place, entry_function;

-- The other line of each line's redundant pairs: the one that made the first access most often, or else, where the
-- line itself always made it, the one that made the second.
CREATE VIEW x_partner AS
SELECT run, kind, file, line, partner_file, partner_line
FROM (
  SELECT s.run, s.kind, f.path AS file, l.line, fp.path AS partner_file, lp.line AS partner_line,
    row_number() OVER (PARTITION BY s.run, s.kind, f.path, l.line
      ORDER BY fp.path IS NULL, s.is_second DESC, s.ns DESC, fp.path, lp.line) AS nth
  FROM (
    SELECT p.run, w.process, w.kind, r.is_second, r.is_own,
      iif(r.is_second, iif(r.is_own, m.own_location, m.line_location), iif(r.is_own, n.own_location, n.line_location))
        AS place,
      iif(r.is_second, iif(r.is_own, n.own_location, n.line_location), iif(r.is_own, m.own_location, m.line_location))
        AS partner,
      sum(w.weight_ns) AS ns
    FROM process p JOIN watch w ON w.process = p.id AND w.outcome = PIE_WATCH_REDUNDANT
    JOIN node n ON n.process = w.process AND n.id = w.first_node
    LEFT JOIN node m ON m.process = w.process AND m.id = w.second_node
    JOIN (SELECT 1 AS is_own, 0 AS is_second UNION ALL SELECT 0, 0 UNION ALL SELECT 1, 1 UNION ALL SELECT 0, 1) r
      ON r.is_own OR iif(r.is_second, m.line_location IS NOT m.own_location, n.line_location IS NOT n.own_location)
    GROUP BY 1, 2, 3, 4, 5, 6, 7) s
  JOIN place(l, u, f) AT (s.process, s.place)
  LEFT JOIN place(lp, up, fp) AT (s.process, s.partner))
WHERE nth = 1;
