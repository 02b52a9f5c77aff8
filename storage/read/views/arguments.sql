-- SPDX-License-Identifier: Apache-2.0
-- The same call again (PieProf 3.2): what the arguments of watched calls say, and the time of own functions that
-- are called. Above watches.sql, below categories.sql.

-- By line: of the watched calls whose arguments could be read and were compared, how many had the arguments of another
-- call of their place, and what is known of its result too; and how many different calls were among them. Only the last
-- ones are remembered, so that is the least number. come_again: of the same, those of a call before the last one.
-- same_low, same_high: Wilson's interval of the part that is the same. Of each line that calls, one call is always new:
-- more_seen are the others. long_same: calls with the same long arguments, looked at in part, whose results cannot be
-- read. converged_s: after so much time of the process all its compared calls gave the same (converged.sql); that is
-- converged_part of its time. (Changes take longer to be seen, so the part of the calls would be too much.)
CREATE VIEW x_line_arguments AS
SELECT run, file, line, compared, same, come_again, first_seen AS kinds, first_seen - calls AS more_seen, long_same, converged_s,
  (same + z2 / 2 - sqrt(z2 * same * (compared - same) / nullif(compared, 0) + z2 * z2 / 4)) / (compared + z2) AS same_low,
  (same + z2 / 2 + sqrt(z2 * same * (compared - same) / nullif(compared, 0) + z2 * z2 / 4)) / (compared + z2) AS same_high,
  iif(converged_s IS NULL, 1.0, after_ns / ns) AS converged_part,
  iif(compared > 0, printf('; %d of %d compared calls had the arguments and the result of another one%s: %d different, at '
    || 'the line or below it', same, compared, iif(long_same > 0, ', as far as these were read', ''), first_seen), '')
  || iif(converged_s IS NULL, '', printf('; %d compared calls gave something else at first, but after %d s of the run all '
    || '%d gave the same', changed, converged_s, same_after)) AS arguments_text
FROM (
  SELECT s.run, f.path AS file, l.line, sum(s.compared) AS compared, sum(s.same) AS same, sum(s.come_again) AS come_again,
    sum(s.first_seen) AS first_seen, sum(s.calls) AS calls,
    sum(s.long_same) AS long_same, sum(s.changed) AS changed, sum(s.same_after) AS same_after,
    sum(s.after_ns) AS after_ns, nullif(sum(s.ns), 0) AS ns,
    iif(count(s.since_s) = count(*), max(s.since_s), NULL) AS converged_s
  FROM x_asked_place s
  JOIN place(l, u, f) AT (s.process, s.place)
  GROUP BY s.run, f.path, l.line)
JOIN (SELECT z2 FROM x_threshold);

-- Lines of own code whose counted calls differ by value from each other, as do their results: this number of calls at
-- least, with this part of the line's counted time. Of long data the watches compare a part, and what they call the
-- same is then the same but for some places. An iteration that has converged is none of these: its calls were counted
-- before it had. Calls of the two tables may be the same ones, so each is asked by itself.
CREATE VIEW x_nearly_threshold AS SELECT 20 AS least_calls, 0.75 AS part, 0.9 AS results;

CREATE VIEW x_nearly_same AS
SELECT p.run, w.file, w.line
FROM (
  SELECT process, file, line, 0 AS is_called, call_ns, iif(NOT is_item AND once = calls - raised AND compared = once
    AND distinct_results >= t.results * once, once, 0) AS new_calls, t.least_calls, t.part
  FROM windowed JOIN x_nearly_threshold t
  UNION ALL
  SELECT process, file, line, 1, call_ns, iif(once = calls - raised AND compared = once
    AND distinct_results >= t.results * once, once, 0), t.least_calls, t.part
  FROM called JOIN x_nearly_threshold t) w
CROSS JOIN process p ON p.id = w.process
GROUP BY p.run, w.file, w.line, is_called
HAVING sum(new_calls) >= max(least_calls) AND sum(iif(new_calls, call_ns, 0)) >= max(part) * sum(call_ns);

-- Lines where, of what was counted, single elements are fetched at least as often as anything is called or computed:
-- the numbers that calls and operators handle come out of arrays one at a time.
CREATE VIEW x_of_elements AS
SELECT p.run, w.file, w.line
FROM windowed w CROSS JOIN process p ON p.id = w.process JOIN x_window_threshold t
GROUP BY p.run, w.file, w.line
HAVING sum(iif(w.is_item AND w.callee NOT GLOB 'for *', w.singles, 0)) >= max(t.array_calls, sum(iif(w.is_item, 0, w.calls)));

-- Lines in loops where most of what was counted, by time, are calls for single numbers that change from call to call.
-- Such numbers come again by nature, as categories and counts do: a library for arrays has one call for all of them.
CREATE VIEW x_of_numbers AS
SELECT p.run, w.file, w.line
FROM windowed w CROSS JOIN process p ON p.id = w.process JOIN x_window_threshold t
GROUP BY p.run, w.file, w.line
HAVING sum(w.calls) >= max(t.again_calls) AND sum(iif(w.singles = w.calls AND NOT w.is_item AND w.is_in_loop
  AND w.same < t.in_row_part * (w.again + w.alike), w.call_ns, 0)) >= max(t.again_part) * sum(w.call_ns);

-- Lines of own code that call functions of own code, of which some calls were compared.
CREATE VIEW x_calling AS
SELECT DISTINCT w.run, w.process, n.own_location AS place
FROM x_watched w JOIN node n ON n.process = w.process AND n.id = w.first_node
WHERE w.traits & PIE_WATCH_OWN_CALL <> 0;

-- CPU time of these lines with all that they call (calls.sql). A comprehension or a lambda is a place of its own,
-- below another one of the same line: the larger figure has both. Only processes that have such lines are looked at.
CREATE VIEW x_called_cpu AS
SELECT d.run, c.process, c.location AS place, max(c.cpu_ns) AS ns
FROM (SELECT DISTINCT run, process FROM x_calling) d
CROSS JOIN x_call_cost c ON c.run = d.run AND c.process = d.process AND c.kind = 2
CROSS JOIN x_calling k ON k.run = d.run AND k.process = c.process AND k.place = c.location
CROSS JOIN place(l, u, f) AT (c.process, c.location)
GROUP BY d.run, c.process, f.path, l.line;
