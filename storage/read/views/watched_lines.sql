-- SPDX-License-Identifier: Apache-2.0
-- What the watches of a line say together, with its CPU time, what its calls returned and what the other lines of its
-- function lend it. Above watches.sql and line_cpu.sql, below categories.sql.

-- What is known of each line and kind of access, one fact a row: sums of watches, CPU time, partner. One sort of these
-- brings them together by line (x_line). Joins of the three would compare each line with each other line, since
-- SQLite thinks such parts small and makes no index for them.
CREATE VIEW x_line_fact AS
SELECT s.run, s.kind, f.path AS file, l.line, NULL AS line_ns, NULL AS array_python_ns,
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
SELECT c.run, k.kind, c.file, c.line, c.line_ns, c.array_python_ns, c.copy_ns, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
  NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL
FROM x_line_cpu c JOIN (SELECT PIE_WATCH_LOAD AS kind UNION ALL SELECT PIE_WATCH_STORE) k
UNION ALL
SELECT p.run, p.kind, p.file, p.line, NULL, NULL, NULL, p.partner_file, p.partner_line, NULL,
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
  max(copy_ns) OVER g AS copy_ns, max(partner_file) OVER g AS first_file,
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
  advice_library, access_function, sampler, line_ns, array_python_ns, copy_ns, first_file, first_line, watches, ns, sq, length_0_ns, length_1_ns, length_2_ns, all_traps,
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
      SELECT *, sum((nth = 1) * watches) OVER l AS line_watches, sum((nth = 1) * asked) OVER l AS line_asked,
        sum((nth = 1) * returned_traps) OVER l AS line_returned_traps,
        sum((nth = 1) * (returned_redundant + returned_partly)) OVER l AS line_returned_again,
        sum((nth = 1) * returned_ns) OVER l AS line_returned_ns,
        sum((nth = 1) * returned_redundant_ns) OVER l AS line_returned_redundant_ns,
        sum((nth = 1) * returned_partly_ns) OVER l AS line_returned_partly_ns,
        sum((nth = 1) * returned_loop_ns) OVER l AS line_returned_loop_ns,
        sum((nth = 1) * returned_below_ns) OVER l AS line_returned_below_ns,
        sum((nth = 1) * returned_values) OVER l AS line_returned_values
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
