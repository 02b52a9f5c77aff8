-- SPDX-License-Identifier: Apache-2.0
-- Redundant loads and stores (PieProf 3.1, 4.2): from the table watch to findings and pairs. Above the views of
-- time.sql. A finding is a line: of own code with all library and native code that ran below it, or of library code.

-- What counts as what; all figures to tune are here.
CREATE VIEW x_threshold AS SELECT
  8 AS high_traps,         -- severity "high": the next access of at least this number of watches was seen, or stores'
                           -- calls had the same long arguments (few watches lower the ends of the intervals, too),
  0.2 AS high_low,         -- this part of the line's time at least is wasted, as the lower end of the interval has it,
  0.25 AS high_part,       -- and this part as the estimate: the longer a run, the nearer the lower end is to it,
  0.05 AS high_share,      -- and the waste is this part of the run's CPU time at least
  8 AS calls_traps,        -- where one call for all takes the place of many, their time is the waste, and what they
                           -- look up again only shows that they do little. Of this number of watches at least,
  0.015 AS calls_waste_low, -- this part of the line's time at least, as the lower end of the interval has it,
  0.1 AS calls_part,       -- and this part as the estimate,
  0.4 AS calls_fraction,   -- and this part of the accesses in short calls, as the lower end;
  4 AS few_traps,          -- or of this number of watches, where the lower end is high_low,
  0.5 AS few_part,         -- and this part of the line's time is looked up again as the estimate
  0.25 AS costly_python,   -- calls cost more than what they do: this part of the line's time is Python code of array
                           -- libraries, which do bulk work in native code,
  0.3 AS costly_short,     -- this part of the loads, by time, is in the last 30 us of calls and no bulk work,
                           -- and the line's calls have other arguments each time
  20 AS thin_watches,      -- loads of own code: with less than this number of watches a line borrows evidence from the
  10 AS lent_watches,      -- other lines of its function, which count as this number of watches at most
  0.45 AS handful_share,   -- API misuse: this part of the accesses at least is no bulk work, at the line and in its
  0.6 AS direct_share,     -- function (this part, where own code makes the calls without Python code of a library): a
                           -- call for all has to do the bulk work of the single ones, too,
  0.2 AS bulk_only, 0.8 AS bulk_hardly, -- less is bulk work only, and not counted; more stands for itself
  0.4 AS pair_fraction,    -- a pair: this part of its accesses at least was redundant
  0.1 AS reuse_share,      -- loads: with less than this part of the time in short calls all is reuse and no waste
  0.2 AS reuse_high,       -- and with no more than this part of it as the upper end: a few watches do not tell
  3 AS category_traps_min, -- a category is named from this number of redundant accesses on
  8 AS returned_traps_min, -- from this number of compared results on, results decide about stores, not memory,
  0.3 AS returned_share,   -- if this part of the line's calls return what can be compared,
  0.3 AS returned_part,    -- or this part of what the line wrote again and again was returned
  0.4 AS returned_fraction, -- this part of the calls at least returned what had been returned before: same_fraction of
                           -- the standard library's, whose calls for one word or number often repeat by chance,
  5e4 AS long_ns,          -- but not by chance where a call takes as long as this: to look its result up costs less
  0.5 AS below_part,       -- and where this part of them is made below the line, by Python code of libraries, which
                           -- looks up the same again whatever the line asks for; both by time and by number
  8 AS values_min,         -- and this number of different values was equal, or the arguments were too, or this number
                           -- of calls had the same long ones: fewer may be so by nature,
  8 AS arguments_min,      -- with this number of compared arguments,
  0.5 AS arguments_same,   -- calls of which less than this part had been made before repeat nothing,
                           -- those of which same_fraction had been made before are the same calls, however much of the
                           -- memory that they write was used for something else in between,
  0.3 AS arguments_new,    -- and those of which more than this part were new are not the same in each round of a loop,
  0.1 AS arguments_again,  -- if this part at least had come before the call before: what never comes back was the
                           -- same in all rounds of a loop, which was begun anew for others
  0.3 AS item_share,       -- slice underutilization: this part of the waste at least is at a[i] or iteration, in a loop
  0.1 AS item_put_share,   -- … or this part, and a[i] = x is among it
  0.3 AS element_share,    -- … or this part of the line's time is in a library's function for one element
  0.5 AS copy_share,       -- deep copies: this part of the line's time makes them
  0.5 AS call_share,       -- API misuse: this part of the waste at least is at calls and operators
  0.5 AS values_share,     -- the standard library's native code has no calls for whole arrays, so its own memory (of
                           -- OpenSSL, of SQLite) says nothing about the calls: this part of the waste at least is at
                           -- fields of objects, data of arrays and results, or the category is by what calls returned
  0.9 AS same_fraction,    -- stores, and what calls returned: from here on the calls did what had been done before
  0.4 AS partly_fraction,  -- stores: from here on a part of them did
  0.5 AS loop_share,       -- loop-invariant computation: this part of the waste lies in a loop of the line's function
  0.5 AS bulk_share,       -- inefficient algorithm: this part of the waste is bulk work
  0.7 AS calls_low,        -- where one call for all takes the place of many, their whole time is saved: of 13 programs
  1.2 AS calls_high,       -- of bench/detection/programs, 11 saved 0.81 to 1.16 of it, the others 0.19 and 1.47
  0.8 AS repeat_low,       -- where the same is computed again, the ends of the samples' interval are taken times
  3.3 AS undecided_high,   -- what is not decided may be no waste, or all of it: of the writes of calls that did nothing
                           -- new, recycled memory hid up to 0.7
  1.75 AS repeat_high,     -- these: 35 programs of bench/detection/programs (18 with packages, 17 with wheels) saved
                           -- 0.84 to 1.71 of the figure, but for three (9 to 12), so 32 are inside, not 6
  3.841458820694124 AS z2; -- of the intervals: the normal quantile for 95 %, squared

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
  sum(iif(is_trap, watches, 0)) AS all_traps, sum(iif(is_redundant, watches, 0)) AS all_redundant,
  sum(iif(is_redundant, bytes, 0)) AS all_bytes, sum(iif(is_trap, weight_ns, 0)) AS all_ns,
  sum(iif(is_redundant, weight_ns, 0)) AS all_redundant_ns, sum(iif(is_trap, weight_sq_ns2, 0)) AS all_sq,
  sum(iif(is_telling AND is_trap, watches, 0)) AS tell_traps,
  sum(iif(is_telling AND is_redundant, watches, 0)) AS tell_redundant,
  sum(iif(is_telling AND is_redundant, bytes, 0)) AS tell_bytes,
  sum(iif(is_telling AND is_trap, weight_ns, 0)) AS tell_ns,
  sum(iif(is_telling AND is_redundant, weight_ns, 0)) AS tell_redundant_ns,
  sum(iif(is_telling AND is_trap, weight_sq_ns2, 0)) AS tell_sq,
  sum(iif(is_redundant, length_ns, 0)) AS all_length_ns,
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
  sum(iif(is_returned, watches, 0)) AS returned_traps, sum(iif(is_returned, weight_ns, 0)) AS returned_ns,
  sum(iif(is_returned, weight_sq_ns2, 0)) AS returned_sq,
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

-- What is known of each line and kind of access, one fact a row: sums of watches, CPU time, partner. One sort of these
-- brings them together by line (x_line). Joins of the three would compare each line with each other line, since
-- SQLite thinks such parts small and makes no index for them.
CREATE VIEW x_line_fact AS
SELECT s.run, s.kind, f.path AS file, l.line, NULL AS line_ns, NULL AS array_python_ns, NULL AS element_ns,
  NULL AS copy_ns, NULL AS partner_file, NULL AS partner_line,
  u.name AS function, u.first_line AS function_line, iif(f.is_own, NULL, f.library) AS library, fo.path AS user_file,
  o.line AS user_line, ne.name AS native_function,
  me.name AS native_library, coalesce(nullif(fi.library, 'python'), me.name) AS advice_library,
  iif(ma.library = 'python', NULL, na.name) AS access_function, na.module = ne.module AS is_access_there, s.sampler,
  s.watches, s.ns, s.sq, s.length_0_ns, s.length_1_ns, s.length_2_ns, s.all_traps, s.all_redundant, s.all_bytes, s.all_ns,
  s.all_redundant_ns, s.all_sq, s.tell_traps, s.tell_redundant, s.tell_bytes, s.tell_ns, s.tell_redundant_ns,
  s.tell_sq, s.all_length_ns, s.tell_length_ns, s.item_ns, s.put_ns, s.unknown_ns, s.call_ns, s.loop_ns, s.bulk_ns,
  s.object_ns, s.array_ns, s.result_ns, s.asked, s.returned_traps, s.returned_ns, s.returned_sq, s.returned_length_ns,
  s.returned_bytes, s.returned_redundant, s.returned_redundant_ns, s.returned_partly, s.returned_partly_ns,
  s.returned_loop_ns, s.returned_below_ns, s.equal_values, s.returned_values
FROM x_watch_sum s JOIN place(l, u, f) AT (s.process, s.place)
LEFT JOIN place(o, uo, fo) AT (s.process, s.user_place)
LEFT JOIN place(i, ui, fi) AT (s.process, s.line_location)
LEFT JOIN function ne ON ne.process = s.process AND ne.id = s.entry_function
LEFT JOIN x_module me ON me.process = ne.process AND me.id = ne.module
LEFT JOIN location la ON la.process = s.process AND la.id = s.location
LEFT JOIN function na ON na.process = la.process AND na.id = la.function
LEFT JOIN module ma ON ma.process = na.process AND ma.id = na.module
UNION ALL
SELECT c.run, k.kind, c.file, c.line, c.line_ns, c.array_python_ns, c.element_ns, c.copy_ns, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM x_line_cpu c JOIN (SELECT PIE_WATCH_LOAD AS kind UNION ALL SELECT PIE_WATCH_STORE) k
UNION ALL
SELECT p.run, p.kind, p.file, p.line, NULL, NULL, NULL, NULL, p.partner_file, p.partner_line, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM x_partner p;

-- By line. The native function is the one with the most waste below it. Where the operation is not known, its name may
-- tell a[i], which is then taken to be in a loop.
CREATE VIEW x_line AS
SELECT run, kind, file, line, function, function_line, library, user_file, user_line,
  coalesce(native_function, iif(is_access_there, access_function, NULL)) AS native_function, native_library,
  advice_library, access_function,
  max(sampler) OVER g AS sampler, max(line_ns) OVER g AS line_ns, max(array_python_ns) OVER g AS array_python_ns,
  max(element_ns) OVER g AS element_ns, max(copy_ns) OVER g AS copy_ns, max(partner_file) OVER g AS first_file,
  max(partner_line) OVER g AS first_line, sum(watches) OVER g AS watches, sum(ns) OVER g AS ns, sum(sq) OVER g AS sq,
  sum(length_0_ns) OVER g AS length_0_ns, sum(length_1_ns) OVER g AS length_1_ns,
  sum(length_2_ns) OVER g AS length_2_ns,
  sum(all_traps) OVER g AS all_traps, sum(all_redundant) OVER g AS all_redundant, sum(all_bytes) OVER g AS all_bytes,
  sum(all_ns) OVER g AS all_ns, sum(all_redundant_ns) OVER g AS all_redundant_ns, sum(all_sq) OVER g AS all_sq,
  sum(all_length_ns) OVER g AS all_length_ns,
  sum(tell_traps) OVER g AS tell_traps, sum(tell_redundant) OVER g AS tell_redundant,
  sum(tell_bytes) OVER g AS tell_bytes, sum(tell_ns) OVER g AS tell_ns,
  sum(tell_redundant_ns) OVER g AS tell_redundant_ns, sum(tell_sq) OVER g AS tell_sq,
  sum(tell_length_ns) OVER g AS tell_length_ns,
  sum(item_ns + iif(native_function GLOB '*subscript*' OR native_function GLOB '*[gs]etitem*'
    OR native_function GLOB 'array_item*', unknown_ns, 0)) OVER g AS item_ns,
  sum(put_ns) OVER g AS put_ns, sum(call_ns) OVER g AS call_ns,
  sum(loop_ns + iif(native_function GLOB '*subscript*' OR native_function GLOB '*[gs]etitem*'
    OR native_function GLOB 'array_item*', unknown_ns, 0)) OVER g AS loop_ns, sum(bulk_ns) OVER g AS bulk_ns,
  sum(object_ns) OVER g AS object_ns, sum(array_ns) OVER g AS array_ns, sum(result_ns) OVER g AS result_ns,
  sum(asked) OVER g AS asked, sum(returned_traps) OVER g AS returned_traps, sum(returned_ns) OVER g AS returned_ns,
  sum(returned_sq) OVER g AS returned_sq, sum(returned_length_ns) OVER g AS returned_length_ns,
  sum(returned_bytes) OVER g AS returned_bytes, sum(returned_redundant) OVER g AS returned_redundant,
  sum(returned_redundant_ns) OVER g AS returned_redundant_ns, sum(returned_partly) OVER g AS returned_partly,
  sum(returned_partly_ns) OVER g AS returned_partly_ns, sum(returned_loop_ns) OVER g AS returned_loop_ns,
  sum(returned_below_ns) OVER g AS returned_below_ns, sum(equal_values) OVER g AS equal_values,
  sum(returned_values) OVER g AS returned_values,
  row_number() OVER (PARTITION BY run, kind, file, line
    ORDER BY watches IS NULL, tell_redundant_ns DESC, all_redundant_ns DESC) AS nth
FROM x_line_fact
WINDOW g AS (PARTITION BY run, kind, file, line);

-- With what the calls of the line returned, whichever kind of access the row is about, and the part of the calls that
-- return something to compare (half of those are asked for it). Where enough of them were compared, these stand instead
-- of single stores, whose memory may have been used for something else in between; else they count among the stores.
CREATE VIEW x_line_returned AS
SELECT run, kind, file, line, function, function_line, library, user_file, user_line, native_function, native_library,
  advice_library, access_function, sampler, line_ns, array_python_ns, element_ns, copy_ns, first_file, first_line, watches, ns, sq, length_0_ns, length_1_ns, length_2_ns, all_traps,
  all_redundant, all_bytes, all_ns, all_redundant_ns, all_sq, all_length_ns, nth,
  iif(by_return, returned_traps, tell_traps) AS tell_traps,
  iif(by_return, returned_redundant + returned_partly, tell_redundant) AS tell_redundant,
  iif(by_return, returned_bytes, tell_bytes) AS tell_bytes, iif(by_return, returned_ns, tell_ns) AS tell_ns,
  iif(by_return, returned_redundant_ns + returned_partly_ns, tell_redundant_ns) AS tell_redundant_ns,
  iif(by_return, returned_sq, tell_sq) AS tell_sq, iif(by_return, returned_length_ns, tell_length_ns) AS tell_length_ns,
  item_ns, put_ns, call_ns, iif(by_return, returned_loop_ns, loop_ns) AS loop_ns, bulk_ns, object_ns, array_ns,
  result_ns, iif(by_return, 1, 0) AS by_return, returned_traps, returned_redundant, returned_redundant_ns,
  returned_partly, line_returned_share, line_returned_traps, line_returned_again, line_returned_ns, line_returned_redundant_ns,
  line_returned_partly_ns, line_returned_loop_ns, line_returned_below_ns, line_returned_values, equal_values
FROM (
  SELECT *, kind = PIE_WATCH_STORE AND returned_traps >= returned_traps_min AND line_returned_share >= returned_share AS by_return
  FROM (
    SELECT *, line_asked * 2.0 / nullif(line_watches, 0) AS line_returned_share
    FROM (
      SELECT *, sum(iif(nth = 1, watches, 0)) OVER l AS line_watches, sum(iif(nth = 1, asked, 0)) OVER l AS line_asked,
        sum(iif(nth = 1, returned_traps, 0)) OVER l AS line_returned_traps,
        sum(iif(nth = 1, returned_redundant + returned_partly, 0)) OVER l AS line_returned_again,
        sum(iif(nth = 1, returned_ns, 0)) OVER l AS line_returned_ns,
        sum(iif(nth = 1, returned_redundant_ns, 0)) OVER l AS line_returned_redundant_ns,
        sum(iif(nth = 1, returned_partly_ns, 0)) OVER l AS line_returned_partly_ns,
        sum(iif(nth = 1, returned_loop_ns, 0)) OVER l AS line_returned_loop_ns,
        sum(iif(nth = 1, returned_below_ns, 0)) OVER l AS line_returned_below_ns,
        sum(iif(nth = 1, returned_values, 0)) OVER l AS line_returned_values
      FROM x_line WINDOW l AS (PARTITION BY run, file, line)))
  JOIN x_threshold);

-- With what the other lines of its function lend it. Where one element or number is handled at a time, several lines of
-- a function do it, and each has few watches. So of loads of a line of own code with few watches, those of the
-- function's other lines count, too, but as no more than lent_watches of the line's own mean weight. lent: the part of
-- the others that counts. Operations are the line's own, and a line without evidence borrows none; but where a line is
-- both at a[i] and calling, what the others do says which of the two it is about.
CREATE VIEW x_line_lent AS
SELECT DISTINCT *, coalesce(iif(kind = PIE_WATCH_LOAD AND library IS NULL AND tell_redundant > 0 AND watches < thin_watches,
    min(1, lent_watches * ns / nullif(watches * other_ns, 0)), 0), 0) AS lent,
  1.0 * lent_watches / nullif(other_watches, 0) AS lent_part,
  iif(length_0_ns + length_1_ns + length_2_ns >= bulk_hardly * ns, 1.0, min((length_0_ns + length_1_ns + length_2_ns)
    / nullif(ns, 0), mixed_light_ns / nullif(mixed_ns, 0))) AS handful
FROM (
  SELECT *, sum(watches) OVER f - watches AS other_watches, sum(ns) OVER f - ns AS other_ns, sum(sq) OVER f - sq AS other_sq,
    sum(length_0_ns) OVER f - length_0_ns AS other_0_ns, sum(length_1_ns) OVER f - length_1_ns AS other_1_ns,
    sum(length_2_ns) OVER f - length_2_ns AS other_2_ns,
    sum(tell_traps) OVER f - tell_traps AS other_traps, sum(tell_redundant) OVER f - tell_redundant AS other_redundant,
    sum(tell_ns) OVER f - tell_ns AS other_tell_ns, sum(tell_redundant_ns) OVER f - tell_redundant_ns AS other_redundant_ns,
    sum(tell_sq) OVER f - tell_sq AS other_tell_sq, sum(item_ns) OVER f - item_ns AS other_item_ns,
    sum(iif(length_0_ns + length_1_ns + length_2_ns >= bulk_only * ns, length_0_ns + length_1_ns + length_2_ns, 0)) OVER f
      AS mixed_light_ns,
    sum(iif(length_0_ns + length_1_ns + length_2_ns >= bulk_only * ns, ns, 0)) OVER f AS mixed_ns
  FROM x_line_returned JOIN (SELECT bulk_only FROM x_threshold)
  WHERE nth = 1
  WINDOW f AS (PARTITION BY run, kind, file, function, function_line, library))
JOIN x_threshold;

CREATE VIEW x_lent_line AS
SELECT DISTINCT *, ns + lent * other_ns AS lent_ns, sq + lent * lent * other_sq AS lent_sq,
  length_0_ns + lent * other_0_ns AS lent_0_ns, length_1_ns + lent * other_1_ns AS lent_1_ns,
  length_2_ns + lent * other_2_ns AS lent_2_ns,
  tell_ns + lent * other_tell_ns AS lent_tell_ns, tell_redundant_ns + lent * other_redundant_ns AS lent_redundant_ns,
  tell_sq + lent * lent * other_tell_sq AS lent_tell_sq, item_ns + iif(item_ns > 0, lent * other_item_ns, 0) AS lent_item_ns,
  tell_traps + iif(lent > 0, min(1, lent_part) * other_traps, 0) AS lent_traps,
  tell_redundant + iif(lent > 0, min(1, lent_part) * other_redundant, 0) AS lent_redundant
FROM x_line_lent;

-- SQLite writes the columns of a subquery into whoever names them, and what these name into these: of the levels below,
-- which name each other's columns several times, it would make a program of 65,000 steps, in 50 ms. A SELECT DISTINCT
-- is never written into another one (https://www.sqlite.org/optoverview.html#subquery_flattening), and "run = ..." is
-- still passed on through it: 6,600 steps, in 6 ms. Each level has one row for a line and kind of access, so nothing is
-- lost by it.

-- With figures. The fraction is that of the telling re-accesses, or of all for what is only reuse. A line's waste is
-- this fraction of its CPU time, for loads times the share of the time that is in short calls: what lies in the last
-- 15 us of calls less what lies in the 15 us before, since samples meet long calls in both alike. Or, if that is more,
-- what lies in the last 30 us less twice all before: torch's and pandas's calls take 20 us, with traps. Intervals are
-- Wilson's, as in time.sql, with Kish's number of samples; h and g are z^2 / n. That of the product follows from the
-- variances of its factors, each taken at the middle of the factor's own interval, so that few samples never count as
-- certain. The upper end of a share p is below the limit u where u - p > sqrt(h u (1 - u)).
-- is_costly: array libraries do bulk work in native code. Where a good part of a line's time is their Python code and a
-- good part of its loads is made in short calls for other arguments each time, a call costs more than what it does,
-- although traps make such calls look long. is_within: library code below a line of own code whose own calls differ.
CREATE VIEW x_finding AS
SELECT DISTINCT *, max(0, (fraction + h / 2 - sqrt(h * fraction * (1 - fraction) + h * h / 4)) / (1 + h)) AS fraction_low,
  min(1, (fraction + h / 2 + sqrt(h * fraction * (1 - fraction) + h * h / 4)) / (1 + h)) AS fraction_high,
  coalesce(back_low, max(0, (waste + g / 2 - sqrt(g * waste * (1 - waste) + g * g / 4)) / (1 + g))) AS waste_low,
  iif(back_low IS NOT NULL, 1.0, min(1, (waste + g / 2 + sqrt(g * waste * (1 - waste) + g * g / 4)) / (1 + g))) AS waste_high
FROM (
  SELECT DISTINCT *, iif(is_reuse, all_traps, tell_traps) AS traps, iif(is_reuse, all_redundant, tell_redundant) AS redundant,
    iif(is_reuse, all_bytes, tell_bytes) AS bytes, iif(is_reuse, all_length_ns, tell_length_ns) AS length_ns,
    iif(is_reuse, all_ns, tell_ns) AS trap_ns, iif(is_reuse, all_redundant_ns, tell_redundant_ns) AS redundant_ns,
    iif(is_reuse, all_sq, tell_sq) AS trap_sq, iif(is_reuse, all_fraction, tell_fraction) AS fraction,
    iif(is_reuse, all_h, tell_h) AS h, iif(back_low IS NOT NULL, back_part, iif(short_share = 0, 0, short_share * iif(kind = PIE_WATCH_STORE, min(tell_fraction, converged_part), tell_fraction)))
      AS waste,
    iif(kind = PIE_WATCH_STORE, tell_h, (tell_mid * tell_mid * (short_mid * (1 - short_mid) + 2 * next_share) * short_h
        + short_mid * short_mid * tell_mid * (1 - tell_mid) * coalesce(tell_h, z2))
      / (short_mid * tell_mid * (1 - short_mid * tell_mid))) AS g
  FROM (
    SELECT DISTINCT *, coalesce(kind = PIE_WATCH_LOAD AND NOT is_costly AND short_share < iif(tell_redundant = 0, reuse_share,
        min(reuse_share, reuse_high - sqrt(short_h * reuse_high * (1 - reuse_high)))), 0) AS is_reuse,
      (short_share + short_h / 2) / (1 + short_h) AS short_mid,
      coalesce((tell_fraction + tell_h / 2) / (1 + tell_h), 0.5) AS tell_mid
    FROM (
      SELECT DISTINCT *, coalesce(kind = PIE_WATCH_LOAD AND library IS NULL AND is_other_arguments AND tell_redundant >= category_traps_min
        AND array_python_ns >= costly_python * line_ns AND tell_ns >= costly_short * all_ns, 0) AS is_costly
      FROM (
        SELECT x.*, a.cpu_ns AS run_ns,
          iif(x.kind = PIE_WATCH_STORE, 1, max(0, lent_0_ns - lent_1_ns, lent_0_ns + lent_1_ns - 2 * lent_2_ns) / nullif(lent_ns, 0))
            AS short_share,
          iif(lent_2_ns >= lent_1_ns, lent_1_ns, 3 * lent_2_ns) / nullif(lent_ns, 0) AS next_share, x.z2 * lent_sq / nullif(lent_ns * lent_ns, 0) AS short_h,
          all_redundant_ns / nullif(all_ns, 0) AS all_fraction, x.z2 * all_sq / nullif(all_ns * all_ns, 0) AS all_h,
          lent_redundant_ns / nullif(lent_tell_ns, 0) AS tell_fraction,
          x.z2 * lent_tell_sq / nullif(lent_tell_ns * lent_tell_ns, 0) AS tell_h,
          coalesce(g.converged_s IS NULL AND g.compared >= x.arguments_min AND b.run IS NULL AND g.same
            < x.arguments_same * g.compared, 0) AS is_other_arguments,
          iif(x.kind = PIE_WATCH_STORE, 1 - b.kinds * b.length_ns / x.line_ns, NULL) AS back_part, iif(x.kind = PIE_WATCH_STORE,
            1 - b.most * b.length_ns / x.line_ns, NULL) AS back_low, b.remembered, b.kinds, b.most, x.line_ns / b.length_ns AS calls,
          coalesce(g.converged_s IS NULL AND g.compared >= x.arguments_min AND g.more_seen > x.arguments_new * g.compared
            AND NOT (g.same >= x.same_fraction * g.compared AND g.come_again < x.arguments_again * g.compared), 0)
            AS is_new_arguments,
          coalesce(g.compared >= x.arguments_min AND g.more_seen > x.arguments_new * g.compared, 0) AS is_renewed,
          coalesce(g.same_high < x.arguments_same, 0) AS is_surely_other,
          coalesce(g.same >= x.same_fraction * g.compared AND g.same_low >= x.arguments_same, 0) AS is_same_arguments,
          coalesce(x.library IS NOT NULL AND o.converged_s IS NULL AND o.compared >= x.arguments_min AND o.same
            < x.arguments_same * o.compared, 0) AS is_within,
          x.kind = PIE_WATCH_STORE AND x.equal_values < x.values_min AND coalesce(g.long_same, 0) < x.values_min AS is_by_chance,
          iif(x.kind = PIE_WATCH_STORE, coalesce(g.long_same, 0), 0) AS long_same,
          g.arguments_text, g.converged_s, coalesce(g.converged_part, 1.0) AS converged_part,
          coalesce(x.native_library, 'python') = 'python' AS is_standard,
          EXISTS (SELECT 1 FROM x_array_library b WHERE coalesce(x.native_library, '') GLOB b.library
            OR coalesce(x.advice_library, '') GLOB b.library) AS is_about_arrays
        FROM x_lent_line x JOIN x_total a ON a.run = x.run
        LEFT JOIN x_line_arguments g ON g.run = x.run AND g.file = x.file AND g.line = x.line
        LEFT JOIN x_coming_back b ON b.run = x.run AND b.file = x.file AND b.line = x.line AND b.most * b.length_ns <= (1 - b.least) * x.line_ns
        LEFT JOIN x_line_arguments o ON o.run = x.run AND o.file = x.user_file AND o.line = x.user_line
        WHERE x.all_redundant > 0 OR x.tell_redundant > 0))));

-- With the category (PieProf, table 1). A call that returns what the one before returned did what had been done,
-- whatever became of the memory in which it did so. Stores at a[i] that are no bulk work make the object of an element,
-- or a view, just as the one before. Deep copies are made to be changed, so equal ones cannot be one: a cheaper copy is
-- what helps. again_ns: what was looked up or computed again; severity goes by that.
CREATE VIEW x_named_finding AS
SELECT DISTINCT *, waste * line_ns AS again_ns, CASE
  WHEN is_reuse OR lent_redundant < category_traps_min OR tell_redundant_ns <= 0 THEN 'undecided'
  WHEN back_low IS NOT NULL THEN 'repeated native calls'
  WHEN is_return_decisive AND line_returned_partly_ns >= line_returned_redundant_ns THEN 'inefficient algorithm'
  WHEN is_return_decisive AND NOT is_other_arguments AND is_copying THEN 'API misuse'
  WHEN is_return_decisive AND NOT is_other_arguments THEN
    iif(loop_share_found >= loop_share AND NOT is_new_arguments, 'loop-invariant computation', 'repeated native calls')
  WHEN native_library IS 'python' AND object_ns + array_ns + result_ns < values_share * tell_redundant_ns THEN 'undecided'
  WHEN kind = PIE_WATCH_LOAD AND loop_share_found >= loop_share AND (lent_item_ns >= item_share
    * iif(item_ns > 0, lent_redundant_ns, tell_redundant_ns) OR is_element OR (put_ns > 0 AND item_ns >= item_put_share * tell_redundant_ns)) THEN 'slice underutilization'
  WHEN kind = PIE_WATCH_LOAD AND item_ns + call_ns >= call_share * tell_redundant_ns AND loop_share_found < loop_share
    THEN 'API misuse'
  WHEN kind = PIE_WATCH_LOAD AND call_ns >= call_share * tell_redundant_ns THEN 'API misuse'
  WHEN kind = PIE_WATCH_LOAD OR fraction < partly_fraction THEN 'undecided'
  WHEN item_ns > call_ns AND bulk_ns < bulk_share * tell_redundant_ns THEN 'slice underutilization'
  WHEN fraction < same_fraction AND NOT is_same_arguments THEN
    iif(bulk_ns >= bulk_share * tell_redundant_ns, 'inefficient algorithm', 'undecided')
  WHEN is_other_arguments THEN 'undecided'
  WHEN loop_share_found >= loop_share AND NOT is_new_arguments THEN 'loop-invariant computation'
  ELSE 'repeated native calls' END AS category
FROM (
  SELECT DISTINCT *, coalesce(iif(is_return_decisive, line_returned_loop_ns / line_again_ns, loop_ns / nullif(tell_redundant_ns, 0)),
    0) AS loop_share_found
  FROM (
    SELECT DISTINCT *, line_returned_redundant_ns + line_returned_partly_ns AS line_again_ns,
      coalesce(library IS NULL AND element_ns >= element_share * line_ns, 0) AS is_element,
      coalesce(library IS NULL AND copy_ns >= copy_share * line_ns, 0) AS is_copying,
      line_returned_traps >= returned_traps_min
        AND iif(kind = PIE_WATCH_STORE, by_return OR returned_redundant >= returned_part * tell_redundant,
          line_returned_share >= returned_share)
        AND line_returned_redundant_ns + line_returned_partly_ns >= returned_fraction * line_returned_ns
        AND ((NOT is_standard OR (by_return AND tell_length_ns >= long_ns * tell_redundant))
          AND line_returned_below_ns < below_part * line_returned_ns
          OR (line_returned_redundant_ns + line_returned_partly_ns >= same_fraction * line_returned_ns
            AND line_returned_again >= same_fraction * line_returned_traps))
        AND line_returned_redundant_ns + line_returned_partly_ns > 0 AND line_returned_values >= values_min
        AS is_return_decisive
    FROM x_finding WHERE redundant > 0));

-- With what a fix saves. One call for all elements takes the place of the single calls, with all that they cost (as a
-- real number: shares of it are taken); of other waste, what was done again is saved. Where a part is computed again
-- for the sake of another, or the arguments say that the calls are the same, memory shows too little: another
-- algorithm, or the kept result, saves the line (is_whole). That this is so is a model with
-- an error of its own: the interval of what was done again (again_…) is that of the samples alone.
CREATE VIEW x_valued_finding AS
SELECT DISTINCT *, waste_low * line_ns AS again_low_ns, waste_high * line_ns AS again_high_ns,
  iif(is_calls, 1.0 * line_ns, again_ns) AS told_ns, CASE
    WHEN is_calls THEN calls_low
    WHEN is_repeat THEN repeat_low * waste_low
    WHEN is_reuse THEN waste_low
    ELSE 0 END * line_ns AS fix_low_ns,
  min(run_ns, line_ns * CASE
    WHEN is_calls OR is_whole THEN calls_high
    WHEN is_repeat THEN repeat_high * waste_high
    WHEN (is_other_arguments AND is_surely_other) OR is_reuse THEN waste_high
    WHEN kind = PIE_WATCH_LOAD THEN calls_high
    ELSE min(calls_high, undecided_high * waste_high) END) AS high_ns
FROM (
  SELECT DISTINCT *, category IN ('slice underutilization', 'API misuse') AS is_calls,
    category IN ('repeated native calls', 'loop-invariant computation', 'inefficient algorithm') AS is_repeat,
    kind = PIE_WATCH_STORE AND (category = 'inefficient algorithm' OR (is_same_arguments AND NOT is_return_decisive
      AND category IN ('repeated native calls', 'loop-invariant computation'))) AS is_whole,
    category <> 'undecided' AND (category <> 'API misuse' OR is_about_arrays OR is_copying)
      AND NOT is_by_chance AS is_decided
  FROM x_named_finding);

-- With its weight: what the evidence does not decide is never high, nor are calls to a library that may have none for
-- many at once: each of them looks up again what it needs. Nor is what a library computes again in calls that differ:
-- nobody but the library could keep it.
CREATE VIEW x_weighed_finding AS
SELECT DISTINCT *, iif(is_calls AND severity <> 'high', min(waste_low, calls_low) * line_ns, fix_low_ns) AS low_ns,
  iif(is_whole AND severity = 'high', converged_part * line_ns, told_ns) AS wasted_ns
FROM (
  SELECT DISTINCT *, CASE
      WHEN is_reuse THEN 'reuse'
      WHEN NOT is_decided OR (is_repeat AND is_within) THEN 'low'
      WHEN category = 'API misuse' AND kind = PIE_WATCH_LOAD AND NOT is_costly AND handful < iif(array_python_ns > 0, handful_share, direct_share) THEN 'low'
      WHEN tell_traps + long_same >= high_traps AND waste_low >= high_low AND waste >= high_part AND again_ns >= high_share * run_ns THEN 'high'
      WHEN is_calls AND kind = PIE_WATCH_LOAD AND lent_traps >= calls_traps AND waste_low >= calls_waste_low AND waste >= calls_part
        AND fraction_low >= calls_fraction AND fix_low_ns >= high_share * run_ns THEN 'high'
      WHEN is_calls AND kind = PIE_WATCH_LOAD AND lent_traps >= few_traps AND waste_low >= high_low AND waste >= few_part
        AND fix_low_ns >= high_share * run_ns THEN 'high'
      WHEN is_calls AND is_costly AND tell_traps >= calls_traps AND fix_low_ns >= high_share * run_ns THEN 'high'
      ELSE 'low' END AS severity
  FROM x_valued_finding);

-- With the figures that decided the category, and what to try.
CREATE VIEW x_explained_finding AS
SELECT DISTINCT *,
  CASE
    WHEN kind = PIE_WATCH_LOAD THEN printf('%d of %d re-reads of %s found the same value, in calls that ended %s later',
      redundant, traps, memory_text, length_text)
    WHEN by_return THEN printf('%d of %d calls returned what the same place had got before', returned_redundant, traps)
      || iif(returned_partly > 0, printf(', and %d the same in half of the data at least', returned_partly), '')
    WHEN returned_traps > 0 THEN printf('%d of %d writes to %s, and values returned, repeated what was there', redundant,
      traps, memory_text)
    ELSE printf('%d of %d writes to %s repeated the value that was there', redundant, traps, memory_text) END
  || iif(lent > 0, printf('; with %d of %d at the other lines of its function', other_redundant, other_traps), '')
  || iif(kind = PIE_WATCH_LOAD AND is_return_decisive, printf('; %.0f %% of what the line''s calls return had been returned before',
    100 * line_again_ns / line_returned_ns), '')
  || coalesce(CASE
    WHEN is_reuse THEN printf('; but only %.0f %% of the time is in short calls that look up what objects are like, '
      || 'the rest is in long calls and bulk work, which have to read again', 100 * short_share)
    WHEN lent_redundant < category_traps_min THEN '; these are too few for the evidence to decide'
    WHEN back_low IS NOT NULL THEN printf('; the others are not known to be new: so many met one of the last %d '
      || 'remembered, so of about %.2g calls some %.2g are different, %.2g at most', remembered, calls, kinds, most)
    WHEN is_by_chance THEN '; but few different values were equal, so this may '
      || 'be a coincidence'
    WHEN category = 'inefficient algorithm' AND is_return_decisive THEN '; the calls compute again what they had '
      || 'computed, for the sake of a part'
    WHEN is_repeat AND is_within THEN '; but the calls of your line that leads there have other arguments each time, so '
      || 'there is no result to keep'
    WHEN category = 'slice underutilization' AND is_element THEN printf('; for %.0f %% of its time the line is in a '
      || 'library''s function for one element', 100.0 * element_ns / line_ns)
    WHEN category = 'API misuse' AND is_copying THEN printf('; for %.0f %% of its time the line makes deep copies, and '
      || 'mostly of what it had copied before', 100.0 * copy_ns / line_ns)
    WHEN category = 'slice underutilization' THEN printf('; for %.0f %% of the time the line was at a[i] or '
      || 'iterating%s', 100 * item_ns / tell_redundant_ns, loop_text)
    WHEN category = 'API misuse' THEN printf('; for %.0f %% of the time the line was calling or computing%s',
      100 * call_ns / tell_redundant_ns, loop_text)
      || iif(is_about_arrays, '', '; the library may have no call for many')
      || iif(is_costly, printf('; %.0f %% of its time is Python code of libraries that work on whole arrays, and %.0f %% of '
        || 'the loads are in short calls, so a call costs more than what it does', 100.0 * array_python_ns / line_ns,
        100 * tell_ns / all_ns), '')
    WHEN category = 'loop-invariant computation' THEN printf('; for %.0f %% of the time the line was in a loop of its '
      || 'function%s', 100 * loop_share_found, iif(is_renewed, ', and arguments that had changed did not come back', ''))
    WHEN category = 'repeated native calls' AND loop_share_found >= loop_share THEN '; the line is in a loop of its '
      || 'function, and the arguments change, but come again'
    WHEN category = 'repeated native calls' THEN printf('; for %.0f %% of the time the line was in no loop of its '
      || 'function, so the function is called again', 100 - 100 * loop_share_found)
    WHEN category = 'inefficient algorithm' THEN printf('; that is %.0f %% of the writes by time, and %.0f %% of it is '
      || 'bulk work', 100 * fraction, 100 * bulk_ns / tell_redundant_ns)
    WHEN native_library IS 'python'
      AND object_ns + array_ns + result_ns < values_share * tell_redundant_ns
      THEN '; most of it is the library''s own memory, which says nothing about what the calls are for'
    WHEN is_other_arguments THEN '; most of its calls have other arguments each time, so they repeat nothing'
    WHEN kind = PIE_WATCH_LOAD THEN '; the line is neither mostly at a[i] nor calling, so the evidence does not decide'
    WHEN fraction < partly_fraction THEN '; most writes changed something, so the evidence does not decide'
    ELSE '; only a part of the writes and no bulk work, so the evidence does not decide' END, '')
  || coalesce(arguments_text, '')
  || iif(access_function IS NOT NULL AND access_function IS NOT native_function,
    printf('; %s in %s', iif(kind = PIE_WATCH_LOAD, 'read', 'written'),
      iif(length(access_function) > 80, substr(access_function, 1, 79) || '…', access_function)), '') AS evidence,
  coalesce((
    SELECT a.advice FROM x_advice a WHERE a.about = x.about AND coalesce(x.advice_library, '') GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1), printf('compare both call paths: ask for "pairs of %s:%d"',
    replace(file_end, rtrim(file_end, replace(file_end, '/', '')), ''), line)) AS advice
FROM (
  SELECT DISTINCT *, substr(file, -255) AS file_end,
  CASE
    WHEN length_ns < 1e3 * redundant THEN printf('%.0f ns', length_ns * 1.0 / redundant)
    WHEN length_ns < 1e6 * redundant THEN printf('%.1f us', length_ns / 1e3 / redundant)
    ELSE printf('%.1f ms', length_ns / 1e6 / redundant) END AS length_text,
  CASE
    WHEN is_reuse THEN 'memory'
    WHEN 2 * object_ns >= tell_redundant_ns THEN 'fields of objects'
    WHEN 2 * array_ns >= tell_redundant_ns THEN 'data of arrays'
    WHEN 2 * result_ns >= tell_redundant_ns THEN 'what calls returned'
    ELSE 'memory of native code' END AS memory_text,
  iif(loop_ns >= loop_share * tell_redundant_ns, ', in a loop', '') AS loop_text, CASE
    WHEN is_reuse THEN 'reuse'
    WHEN category = 'API misuse' AND is_copying THEN 'deep copies'
    WHEN category = 'loop-invariant computation' AND converged_s IS NOT NULL THEN 'converged'
    WHEN category = 'loop-invariant computation'
      AND iif(is_return_decisive, line_again_ns / line_returned_ns, fraction) < same_fraction THEN 'in part'
    ELSE category END AS about
FROM x_weighed_finding) x;

-- All findings, in the order of their worth. What is only reuse comes last, whatever it costs, and one or two
-- comparisons that decide nothing come after what is decided. A line that grows (1) or shifts (2) has one verdict: it
-- says what the line's stores are about, and what the line looks up again is of less weight. One that reads all
-- that was there (3) or single elements (4) has no other (reads.sql, work.sql). Where a line passes over the same data
-- again and again, results may be nearly the same each time, and prove only with the same arguments (is_argued).
CREATE VIEW x_told_finding AS
SELECT *, row_number() OVER (PARTITION BY run ORDER BY severity = 'reuse', severity = 'maybe', severity = 'low',
    coalesce(category = 'undecided' AND traps < (SELECT category_traps_min FROM x_threshold), 0), wasted_ns DESC,
    library IS NOT NULL, trap_ns DESC, file, line, kind) AS rank
FROM (
  SELECT run, kind, file, line, function, function_line, first_file, first_line, native_function, native_library,
    category, evidence, advice, fraction, fraction_low, fraction_high, wasted_ns, low_ns, high_ns, again_ns,
    again_low_ns, again_high_ns, line_ns, run_ns, short_share, bytes, traps, watches, sampler, library, user_file,
    user_line, redundant_ns, trap_ns, trap_sq, is_reuse, is_decided, z2, high_traps, high_low, high_part, high_share,
    calls_high, grows,
    iif((line_grows AND NOT grows OR line_passes AND NOT is_argued) AND severity = 'high', 'low', severity) AS severity
  FROM (
    SELECT *, max(grows) OVER g AS line_grows, max(severity = 'maybe') OVER g AS line_passes,
      max(severity = 'high' AND is_argued) OVER g AS line_high
    FROM (
      SELECT run, kind, file, line, function, function_line, first_file, first_line, native_function, native_library,
        category, evidence, advice, fraction, fraction_low, fraction_high, wasted_ns, low_ns, high_ns, again_ns,
        again_low_ns, again_high_ns, line_ns, run_ns, short_share, bytes, traps, watches, sampler, library,
        user_file, user_line, redundant_ns, trap_ns, trap_sq, is_reuse, is_decided, z2, high_traps, high_low, high_part,
        high_share, calls_high, severity, 0 AS grows, NOT is_repeat OR is_same_arguments
          OR (category <> 'inefficient algorithm' AND NOT by_return AND NOT is_return_decisive) AS is_argued
      FROM x_explained_finding
      UNION ALL
      SELECT run, PIE_WATCH_STORE, file, line, function, function_line, NULL, NULL, native_function, native_library,
        'inefficient algorithm', evidence, advice, NULL, NULL, NULL, saved_ns, calls_low * saved_ns,
        min(calls_high * saved_ns, run_ns), copies_ns, copies_ns, NULL, line_ns, run_ns, NULL, bytes, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, 0, 1, z2, high_traps, high_low, high_part, high_share, calls_high, 'high',
        iif(about = 'shifts', 2, 1), 1
      FROM x_copying_finding
      UNION ALL
      SELECT run, PIE_WATCH_LOAD, file, line, function, function_line, NULL, NULL, native_function, native_library,
        'inefficient algorithm', evidence, advice, NULL, NULL, NULL, saved_ns, low_ns, high_ns, reads_ns, reads_ns, NULL,
        line_ns, run_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, z2, high_traps, high_low,
        high_part, high_share, calls_high, 'high', 3, 1
      FROM x_reading_finding
      UNION ALL
      SELECT * FROM x_work_told
      UNION ALL
      SELECT run, PIE_WATCH_LOAD, file, line, function, function_line, NULL, NULL, native_function, native_library,
        'whole re-reads', evidence, advice, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, line_ns, run_ns, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, pass_ns, NULL, 1, 0, z2, high_traps, high_low, high_part,
        high_share, calls_high, 'maybe', 0, 1
      FROM x_passing_finding)
    WINDOW g AS (PARTITION BY run, file, line))
  WHERE iif(line_grows >= 3, grows = line_grows, grows OR NOT line_grows OR kind = PIE_WATCH_LOAD)
    AND iif(severity = 'maybe', NOT line_high, NOT (line_passes AND is_reuse AND NOT line_high)));

CREATE VIEW v_redundancy AS
SELECT run, proven_rank AS rank, iif(kind = PIE_WATCH_LOAD, 'load', 'store') AS kind, file, line, function, first_file, first_line, native_function,
  native_library, line_category AS category, line_evidence AS evidence, line_advice AS advice, fraction AS redundant_fraction, fraction_low,
  fraction_high,
  wasted_ns / 1e9 AS wasted_s, wasted_ns / nullif(run_ns, 0) AS wasted_share, bytes, traps, sampler,
  line_severity AS severity,
  library, user_file, user_line, low_ns / 1e9 AS wasted_s_low, high_ns / 1e9 AS wasted_s_high,
  line_ns / 1e9 AS cpu_s, iif(kind = PIE_WATCH_LOAD, short_share, NULL) AS short_share, watches, verdict, proof AS facts,
  fix_gain_ns / 1e9 AS gain_s, again_ns / 1e9 AS again_s, iif(grows, NULL, again_low_ns / 1e9) AS again_s_low,
  again_high_ns / 1e9 AS again_s_high, done_again AS again, most_ns / 1e9 AS gain_most_s,
  iif(most_ns IS NULL, NULL, within) AS gain_within
FROM x_confirmed_finding;

-- By function: sums of its lines, without those that are only reuse unless all are; words and names are those of its
-- worst line, which a second run may have confirmed or refuted. Loads and stores are views of the same seconds, so they
-- are not added up, and one of them is the function's verdict, as with lines: only that may be high. A library's
-- function is not, where its worst line is evidence for an own one. (In one SELECT all windows must be partitioned
-- alike, or SQLite does not pass "run = …" on through it.)
CREATE VIEW v_redundancy_function AS
SELECT run, row_number() OVER (PARTITION BY run ORDER BY severity = 'reuse', severity = 'maybe', severity = 'low',
    wasted_ns DESC, library IS NOT NULL, trap_ns DESC, file, line, function, kind) AS rank,
  iif(kind = PIE_WATCH_LOAD, 'load', 'store') AS kind, file, line, function, native_function, native_library, category,
  evidence || iif(severity <> sum_severity AND nth > 1, printf('; the function''s verdict is that of its %s', first_kind),
    '') AS evidence,
  advice, p AS redundant_fraction, max(0, (p + h / 2 - sqrt(h * p * (1 - p) + h * h / 4)) / (1 + h)) AS fraction_low,
  min(1, (p + h / 2 + sqrt(h * p * (1 - p) + h * h / 4)) / (1 + h)) AS fraction_high, wasted_ns / 1e9 AS wasted_s,
  wasted_ns / nullif(run_ns, 0) AS wasted_share, bytes, traps, sampler, severity, library, user_file, user_line,
  low_ns / 1e9 AS wasted_s_low, high_ns / 1e9 AS wasted_s_high, line_ns / 1e9 AS cpu_s, watches, lines, worst_line,
  iif(nth = 1, verdict, NULL) AS verdict, iif(nth = 1, proof, NULL) AS facts,
  iif(nth = 1, fix_gain_ns, NULL) / 1e9 AS gain_s, again_ns / 1e9 AS again_s,
  iif(grows, NULL, again_low_ns / 1e9) AS again_s_low, iif(grows, NULL, again_high_ns / 1e9) AS again_s_high,
  done_again AS again, iif(nth = 1, most_ns, NULL) / 1e9 AS gain_most_s,
  iif(nth = 1 AND most_ns IS NOT NULL, within, NULL) AS gain_within
FROM (
  SELECT DISTINCT *, iif(sum_severity = 'high' AND (nth > 1 OR (library IS NOT NULL AND is_evidence)), 'low', sum_severity)
      AS severity,
    first_value(kind_text) OVER (PARTITION BY run, file, function, line ORDER BY nth) AS first_kind
  FROM (
    SELECT DISTINCT *, row_number() OVER (PARTITION BY run, file, function, line
        ORDER BY sum_severity <> 'high', sum_severity = 'reuse', sum_severity = 'maybe', verdict IS NOT 'confirmed', verdict IS NULL,
          wasted_ns DESC, kind) AS nth
    FROM (
      SELECT *, redundant_ns / nullif(trap_ns, 0) AS p, z2 * trap_sq / nullif(trap_ns * trap_ns, 0) AS h,
        row_number() OVER (PARTITION BY run, kind, file, function, line ORDER BY is_reuse) AS part, CASE
          WHEN is_reuse THEN iif(worst_severity = 'maybe', 'maybe', 'reuse')
          WHEN worst_severity = 'high' THEN 'high'
          WHEN found_verdict IS 'refuted' THEN 'low'
          WHEN grows THEN 'high'
          WHEN is_decided AND traps >= high_traps AND again_low_ns >= high_low * line_ns
            AND again_ns >= high_part * line_ns AND again_ns >= high_share * run_ns THEN 'high'
          ELSE 'low' END AS sum_severity
      FROM (
        SELECT run, kind, file, function_line AS line, function, native_function, native_library,
          line_category AS category, line_evidence AS evidence, line_advice AS advice, library, user_file, user_line, line AS worst_line, is_reuse, is_decided,
          run_ns, z2, high_traps, high_low, high_part, high_share, found_verdict, verdict, proof, fix_gain_ns, most_ns, within, done_again,
          kind_text, is_evidence, line_severity AS worst_severity,
          max(sampler) OVER g AS sampler, sum(redundant_ns) OVER g AS redundant_ns,
          sum(trap_ns) OVER g AS trap_ns, sum(trap_sq) OVER g AS trap_sq, sum(wasted_ns) OVER g AS wasted_ns,
          sum(low_ns) OVER g AS low_ns, sum(high_ns) OVER g AS high_ns, sum(again_ns) OVER g AS again_ns,
          sum(again_low_ns) OVER g AS again_low_ns, sum(again_high_ns) OVER g AS again_high_ns, max(grows) OVER g AS grows,
          sum(line_ns) OVER g AS line_ns, sum(bytes) OVER g AS bytes, sum(traps) OVER g AS traps,
          sum(watches) OVER g AS watches, count(*) OVER g AS lines,
          row_number() OVER (PARTITION BY run, kind, file, function, function_line, is_reuse ORDER BY proven_rank) AS line_nth
        FROM x_confirmed_finding
        WINDOW g AS (PARTITION BY run, kind, file, function, function_line, is_reuse))
      WHERE line_nth = 1)
    WHERE part = 1));
