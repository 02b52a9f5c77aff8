-- SPDX-License-Identifier: Apache-2.0
-- Lines of own code whose calls of other own code come again, from the table called: the work is done in a helper, but
-- the call to leave out is that of its caller. Below findings.sql.

-- All figures to tune are here.
CREATE VIEW x_called_threshold AS SELECT
  8 AS again_calls,        -- this number of the callee's calls at least had been made before,
  3 AS few_calls,          -- or this number for each kind of them,
  0.9 AS pure_part,        -- and this part of those with arguments that were met before had their result
  256 AS kept_max,         -- results that take little memory to keep: more of them are a cache's to decide
  0.1 AS again_part,       -- what comes again is this part of the line's counted time at least,
  0.5 AS most_part,        -- of the callee's calls, that part has what is below it for evidence;
  0.95 AS whole_part,      -- and no more than this part of its function's time: a loop that does nothing else, such as
                           -- one that measures, repeats its call on purpose,
  0.01 AS other_part,      -- unless its line makes as many calls of something else, which are new and take this part
                           -- of the line's counted time at least: they want what comes again.
  1.1 AS other_calls,      -- As many: what comes again was called this many times as often at most
  0.5 AS same_part;        -- the same in each round of a loop: this part of what came again had the arguments of the
                           -- call before

-- By callee. Of n calls of which k met arguments that came once, the other part comes again (windows.sql). new_calls:
-- those of a callee, if no two of them are the same. (Methods of a list change it, so each is new.)
CREATE VIEW x_called_callee AS
SELECT p.run, c.process, c.file, c.line, c.function, c.function_line, c.callee, c.is_in_loop, c.calls - c.raised AS calls,
  c.distinct_args AS kinds, c.again, c.same, c.call_ns, c.line_ns, c.function_ns,
  iif(c.once = c.calls AND c.compared = c.calls AND c.callee NOT GLOB 'list.*', c.calls, 0) AS new_calls,
  iif((c.again >= t.again_calls OR c.again >= t.few_calls * max(1, c.distinct_args))
      AND c.again >= t.pure_part * (c.calls - c.raised - c.distinct_args)
      AND c.distinct_args <= t.kept_max,
    max(c.again_ns, 1.0 * c.call_ns * (c.calls - c.once) / c.calls), 0) AS again_ns
FROM process p JOIN called c ON c.process = p.id JOIN x_called_threshold t
WHERE c.calls > 0;

-- By line, with the time that its calls of before take in the run; the callee is the one of which most comes again.
CREATE VIEW x_called_line AS
SELECT *, line_ns * again_part AS saved_ns, sum(line_ns * again_part) OVER (
    PARTITION BY run, process, file, function_line) AS function_saved_ns
FROM (
  SELECT *, 1.0 * sum(again_ns) OVER g / nullif(sum(call_ns) OVER g, 0) AS again_part,
    max(new_calls) OVER g AS line_new_calls, sum(iif(new_calls, call_ns, 0)) OVER g * 1.0 / nullif(sum(call_ns) OVER g, 0)
      AS new_part,
    row_number() OVER (PARTITION BY run, process, file, line, function_line ORDER BY again_ns DESC, call_ns DESC, callee) AS nth
  FROM x_called_callee
  WINDOW g AS (PARTITION BY run, process, file, line, function_line))
WHERE nth = 1;

-- As x_told_finding has them. A second row without a line (is_call = 0) says which line calls the function that is
-- called in a loop, where most of its calls come again: what its lines do is evidence for that one. Where that line is
-- in such a function itself, it is the line which calls that one. Elsewhere the function may keep what it returns, so
-- its own lines have a verdict, too.
CREATE VIEW x_called_told AS
SELECT x.run, NULL, iif(r.is_call, x.file, NULL), iif(r.is_call, x.line, NULL), iif(r.is_call, x.function, x.callee), x.function_line,
  iif(r.is_call, NULL, x.file), iif(r.is_call, NULL, coalesce((
    SELECT max(k.line) FROM x_called_callee k
    WHERE k.process = x.process AND k.file = x.file AND k.callee = x.function
      AND k.is_in_loop AND k.again_ns >= x.most_part * k.call_ns), iif(x.is_in_loop, x.line, NULL))), NULL, NULL, x.category,
  printf('of %d calls of %s that were counted, %d were made before, with the same result: %d different; they take %.3g of '
    || 'the line''s %.3g s, with all that they call', x.calls, x.callee, x.again, x.kinds, x.saved_ns / 1e9, x.line_ns / 1e9), (
    SELECT a.advice FROM x_advice a WHERE a.library = '*' AND a.about = x.category),
  NULL, NULL, NULL, x.saved_ns, t.repeat_low * x.saved_ns, min(a.cpu_ns, t.repeat_high * x.saved_ns), x.saved_ns,
  x.saved_ns, NULL, x.line_ns, a.cpu_ns * 1.0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  t.z2, t.high_traps, t.high_low, t.high_part, t.high_share, t.calls_high, iif(r.is_call, 'high', 'called'), iif(r.is_call, PIE_BASIS_CALLS, PIE_BASIS_WATCHES), 1
FROM (
  SELECT y.*, iif(y.is_in_loop AND y.same >= c.same_part * y.again, 'loop-invariant computation', 'repeated native calls')
      AS category, c.again_part AS least_part, c.whole_part, c.other_part, c.other_calls, c.most_part
  FROM x_called_line y JOIN x_called_threshold c) x
JOIN (SELECT 1 AS is_call UNION ALL SELECT 0) r ON r.is_call OR x.again_ns >= x.most_part * x.call_ns
JOIN x_total a ON a.run = x.run JOIN x_threshold t
WHERE x.again_part >= x.least_part AND x.saved_ns >= t.high_share * a.cpu_ns
  AND (x.function_saved_ns <= x.whole_part * x.function_ns
    OR (x.new_part >= x.other_part AND x.other_calls * x.line_new_calls >= x.calls));
