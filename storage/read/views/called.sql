-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code whose calls of other own code come again, from the table called: the work is done in a helper, but
-- the call to leave out is that of its caller. Below findings.sql.

-- All figures to tune are here.
CREATE VIEW x_called_threshold AS SELECT
  8 AS again_calls,        -- this number of the callee's calls at least had been made before,
  3 AS few_calls,          -- or this number for each kind of them, or in all, if calls take as long as this and both
  1e6 AS few_long_ns,      -- arguments and results are known by value, each kind with a result of its own,
  0.9 AS pure_part,        -- and this part of those with arguments that were met before had their result
  256 AS kept_max,         -- results that take little memory to keep: more of them are a cache's to decide
  20 AS object_calls,      -- or this number of calls had the same objects as before,
  8 AS object_results,     -- of this number of different results at least,
  0.5 AS object_part,      -- which is this part of the kinds at least and no more than all,
  2e3 AS object_ns,        -- and which take this long: several times what a method with a dict takes for it,
  2e5 AS object_long_ns,   -- or of this length, with two results at least, of which each kind has one,
  0.1 AS again_part,       -- what comes again is this part of the line's counted time at least,
  0.95 AS whole_part,      -- and no more than this part of its function's time: a loop that does nothing else, such as
                           -- one that measures, repeats its call on purpose,
  0.01 AS other_part,      -- unless its line makes as many calls of something else, which are new and take this part
                           -- of the line's counted time at least: they want what comes again.
  1.1 AS other_calls,      -- As many: what comes again was called this many times as often at most
  0.8 AS below_part,       -- the time of a callee is that of the line, if it made calls of this part of it at least
  0.5 AS inner_part,       -- a function calls itself: this part of the time of these calls at least comes again,
  0.5 AS same_part,        -- the same in each round of a loop: this part of what came again had the arguments of the
                           -- call before,
  0.5 AS rounds_part;      -- and this part of its calls at least comes again

-- By callee. Of n calls of which k met arguments that came once, the other part comes again (windows.sql). That is not
-- said of a function that calls itself: it may keep its results, and then what comes again is short. new_calls:
-- those of a callee, if no two of them are the same. (Methods of a list change it, so each is new.)
-- A method's object is known as an object only. If it had changed in between, or were another one at its address,
-- results would tell: of pure calls each kind has one. So there are no more results than kinds, few calls contradict,
-- and if half of the kinds have one of their own, the results can be read. Random.randrange() has more results than
-- kinds.
CREATE VIEW x_called_callee AS
SELECT run, process, file, line, function, function_line, callee, is_in_loop, calls, kinds, again, same, call_ns, line_ns,
  function_ns, new_calls, iif((again >= again_calls OR again >= few_calls * iif(is_long, 1, max(1, kinds))) AND again >= pure_part * (calls - kinds)
      AND kinds <= kept_max,
    iif(is_kept, again_ns, max(again_ns, 1.0 * call_ns * (calls - once) / calls)), 0) AS again_ns
FROM (
  SELECT p.run, c.process, file, line, function, function_line, callee, is_in_loop, calls - raised AS calls, distinct_args AS kinds,
    again + alike * o.is_of_object AS again, same, call_ns, line_ns, function_ns, once, callee = function OR o.is_of_object AS is_kept,
    1.0 * again_ns + alike_ns * o.is_of_object AS again_ns, compared = calls - raised AND distinct_results = distinct_args
      AND call_ns >= t.few_long_ns * calls AS is_long, t.again_calls, t.few_calls, t.pure_part, t.kept_max,
    iif(once = calls AND compared = calls AND callee NOT GLOB 'list.*', calls, 0) AS new_calls
  FROM process p JOIN called c ON c.process = p.id JOIN x_called_threshold t
  JOIN (SELECT 1 AS is_of_object UNION ALL SELECT 0) o ON o.is_of_object = (alike >= t.object_calls AND callee <> function
    AND iif(call_ns >= t.object_long_ns * calls AND distinct_results = distinct_args, distinct_results > 1,
      distinct_results BETWEEN max(t.object_results, t.object_part * distinct_args) AND distinct_args
      AND call_ns >= t.object_ns * calls)));

-- By line, with the time that its calls of before take in the run; the callee is the one of which most comes again.
-- Where calls of one callee never ended within a window, nobody knows what part of the time the others take.
-- function_again_ns: append() only keeps what the other call returned, so it is no other work of the function. On a
-- busy machine one append() of a window may be as long as all of its other calls.
CREATE VIEW x_called_line AS
SELECT *, line_ns * again_part AS saved_ns, sum(line_ns * loop_part) OVER f AS function_again_ns,
  callee = function AS is_inner, row_number() OVER (
    PARTITION BY run, process, file, function_line, callee = function ORDER BY line_ns * again_part DESC, line) AS inner_nth
FROM (
  SELECT *, 1.0 * sum(again_ns) OVER g / nullif(sum(call_ns) OVER g, 0) AS again_part,
    1.0 * sum(iif(callee = 'list.append', call_ns, again_ns)) OVER g / nullif(sum(call_ns) OVER g, 0) AS loop_part,
    min(calls) OVER g AS least_calls, max(new_calls) OVER g AS line_new_calls, sum(iif(new_calls, call_ns, 0)) OVER g * 1.0 / nullif(sum(call_ns) OVER g, 0)
      AS new_part,
    row_number() OVER (PARTITION BY run, process, file, line, function_line ORDER BY again_ns DESC, call_ns DESC, callee) AS nth
  FROM x_called_callee
  WINDOW g AS (PARTITION BY run, process, file, line, function_line))
WHERE nth = 1 AND least_calls > 0
WINDOW f AS (PARTITION BY run, process, file, function_line);

-- Those that become findings.
CREATE VIEW x_called_again AS
SELECT x.*, a.cpu_ns * 1.0 AS run_ns
FROM (
  SELECT y.*, CASE WHEN y.is_inner THEN 'inefficient algorithm'
      WHEN y.is_in_loop AND y.same >= c.same_part * y.again AND y.again >= c.rounds_part * y.calls THEN 'loop-invariant computation'
      ELSE 'repeated native calls' END AS category, iif(y.is_inner, c.inner_part, c.again_part) AS least_part,
      c.whole_part, c.other_part, c.other_calls, c.below_part
  FROM x_called_line y JOIN x_called_threshold c) x
JOIN x_total a ON a.run = x.run
WHERE x.again_part >= x.least_part AND x.saved_ns >= (SELECT high_share FROM x_threshold) * a.cpu_ns
  AND (iif(x.is_inner, x.inner_nth = 1, x.function_again_ns <= x.whole_part * x.function_ns)
    OR (NOT x.is_inner AND x.new_part >= x.other_part AND x.other_calls * x.line_new_calls >= x.calls));

-- As x_told_finding has them. What is called takes its time in lines of its own, or below: their time is part of that
-- of the line that calls, if it makes the calls of most of the function's time. A row for each says which line that is.
CREATE VIEW x_called_told AS
SELECT x.run, NULL, iif(r.is_call, x.file, f.path), iif(r.is_call, x.line, l.line), iif(r.is_call, x.function, u.name),
  iif(r.is_call, x.function_line, u.first_line), iif(r.is_call, NULL, x.file), iif(r.is_call, NULL, x.line), NULL, NULL, x.category,
  printf('of %d calls of %s that were counted, %d were made before, with the same result: %d different; they take %.3g of '
    || 'the line''s %.3g s, with all that they call', x.calls, x.callee, x.again, x.kinds, x.saved_ns / 1e9, x.line_ns / 1e9), (
    SELECT a.advice FROM x_advice_again a WHERE a.about = x.category OR (x.is_inner AND a.about = 'recursion')),
  NULL, NULL, NULL, x.saved_ns, t.repeat_low * x.saved_ns, min(x.run_ns, t.repeat_high * x.saved_ns), x.saved_ns,
  x.saved_ns, NULL, x.line_ns, x.run_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  iif(r.is_call, 'high', 'called'),
  iif(r.is_call, PIE_BASIS_CALLS, PIE_BASIS_WATCHES), 1
FROM x_called_again x JOIN x_threshold t JOIN (SELECT 1 AS is_call UNION ALL SELECT 0) r
LEFT JOIN function c ON NOT r.is_call AND c.process = x.process AND c.name = x.callee AND c.kind = PIE_LOCATION_PYTHON
LEFT JOIN x_call_time k ON k.process = c.process AND k.kind = 1 AND k.function = c.id
LEFT JOIN x_call_time b ON b.process = c.process AND b.kind = 5 AND b.function = c.id
LEFT JOIN place(l, u, f) AT (b.process, b.location)
WHERE r.is_call OR ((f.path <> x.file OR l.line <> x.line) AND EXISTS (
  SELECT 1 FROM x_call_time m JOIN place(o, w, g) AT (m.process, m.location)
  WHERE m.process = c.process AND m.kind = 3 AND m.function = c.id AND o.line = x.line AND g.path = x.file
    AND m.samples >= x.below_part * k.samples));
