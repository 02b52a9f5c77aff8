-- SPDX-License-Identifier: Apache-2.0
-- Calls of own functions that do all again what they had done: the verdict belongs to the line that calls, not to lines
-- of the function. Above calls.sql, below findings.sql.

-- All figures to tune are here.
CREATE VIEW x_again_threshold AS SELECT
  0.9 AS again_part,     -- a call is the same again: this part of the function's time at least is in lines whose calls
                         -- had been made before,
  4 AS same,             -- by this number of compared calls,
  0.5 AS same_low,       -- of which this part at least had been made before, as the lower end,
  0.8 AS caller_part,    -- and one line made calls that took this part of the function's time
  0.5 AS turns_part,     -- calls take turns: this part of the same ones at least was not the same as the one before
  10 AS new_calls,       -- calls are new: of this number of counted calls of the function,
  0.9 AS new_part;       -- this part had other arguments each

-- By line of own code, of the calls that it made: how many were compared, and how many of these had been made before,
-- by the same arguments or with a long result (what may be a coincidence is left out). In a loop of its own function a
-- line says nothing of the calls of that function.
CREATE VIEW x_again_place AS
SELECT run, process, place, sum(watches) AS compared,
  sum((is_same AND NOT is_in_loop) * watches) AS same, sum((is_same AND is_seen_before) * watches) AS in_turn
FROM (
  SELECT p.run, w.process, n.own_location AS place, w.watches, w.own_operation & PIE_OPERATION_IN_LOOP <> 0 AS is_in_loop,
    w.traits & PIE_WATCH_SEEN_BEFORE <> 0 AS is_seen_before,
    w.outcome = PIE_WATCH_REDUNDANT AND w.traits & (PIE_WATCH_OTHER_ARGUMENTS | PIE_WATCH_WEAK) = 0
      AND (w.traits & PIE_WATCH_ARGUMENTS <> 0 OR w.traits & PIE_WATCH_NEW_VALUE = 0) AS is_same,
    w.outcome = PIE_WATCH_CHANGED OR w.traits & PIE_WATCH_OTHER_ARGUMENTS <> 0 AS is_other
  FROM process p CROSS JOIN watch w ON w.process = p.id AND w.memory IN (PIE_WATCH_MEMORY_RETURNED, PIE_WATCH_MEMORY_CALL)
    AND w.outcome IN (PIE_WATCH_REDUNDANT, PIE_WATCH_CHANGED)
  JOIN node n ON n.process = w.process AND n.id = w.first_node)
WHERE is_same OR is_other
GROUP BY run, process, place;

-- Each own function with each such line in it or below, and its sums.
CREATE VIEW x_again_below AS
SELECT a.run, a.process, b.function, a.place, b.cpu_ns * a.same / a.compared AS place_again_ns, k.cpu_ns AS total_ns,
  sum(b.cpu_ns * a.same / a.compared) OVER f AS again_ns, 1.0 * sum(a.same) OVER f AS same,
  1.0 * sum(a.compared) OVER f AS compared, sum(a.in_turn) OVER f AS in_turn
FROM x_again_place a
JOIN x_call_cost b ON b.run = a.run AND b.process = a.process AND b.kind = 5 AND b.location = a.place
JOIN x_call_cost k ON k.run = a.run AND k.process = a.process AND k.kind = 1 AND k.function = b.function
WINDOW f AS (PARTITION BY a.run, a.process, b.function);

-- Functions whose calls are the same again, by line that calls. new_ns: the time of the shortest of those with the same
-- line below whose counted calls are new. There the same is done again within each call, so the line to change is
-- further in.
CREATE VIEW x_again_call AS
SELECT *, min(iif(is_new, total_ns, NULL)) OVER (PARTITION BY run, process, place) AS new_ns
FROM (
  SELECT DISTINCT x.*, f.path AS file, l.line, u.name AS function_name, u.first_line, c.cpu_ns AS call_ns,
    coalesce(l.is_in_loop, 0) AS is_in_loop, EXISTS (
      SELECT 1 FROM called d JOIN x_again_threshold t
      WHERE d.process = x.process AND d.file = f.path AND d.line = l.line AND d.compared = d.calls - d.raised
        AND d.compared >= t.new_calls AND d.once >= t.new_part * d.compared
        AND d.callee = (SELECT g.name FROM function g WHERE g.process = x.process AND g.id = x.function)) AS is_new
  FROM (
    SELECT b.*, t.caller_part, b.in_turn >= t.turns_part * b.same AS takes_turns
    FROM x_again_below b JOIN x_again_threshold t JOIN (SELECT z2 FROM x_threshold) z
    WHERE b.again_ns >= t.again_part * b.total_ns AND b.same >= t.same
      AND (b.same + z.z2 / 2 - sqrt(z.z2 * b.same * (b.compared - b.same) / b.compared + z.z2 * z.z2 / 4)) / (b.compared + z.z2)
        >= t.same_low) x
  CROSS JOIN x_call_cost c ON c.run = x.run AND c.process = x.process AND c.kind = 3 AND c.function = x.function
    AND c.cpu_ns >= x.caller_part * x.total_ns
  JOIN place(l, u, f) AT (c.process, c.location)
  WHERE f.is_own);

-- By line that calls (is_call), and by line below it. The other one of the two is, of a call, the line that does most.
-- Of the functions around such a line, it is the innermost that is called in a loop, since each round does the same.
-- But where calls take turns, or none is in a loop, it is the outermost.
CREATE VIEW x_again_line AS
SELECT * FROM (
  SELECT x.run, r.is_call, iif(r.is_call, x.file, f.path) AS file, iif(r.is_call, x.line, l.line) AS line, x.function_name,
    x.first_line, iif(r.is_call, f.path, x.file) AS other_file, iif(r.is_call, l.line, x.line) AS other_line, g.name AS called,
    sum(x.call_ns) OVER l AS call_ns, sum(x.again_ns) OVER l AS again_ns, sum(x.same) OVER l AS same,
    sum(x.compared) OVER l AS compared, max(x.is_in_loop) OVER l AS is_in_loop, row_number() OVER (
      PARTITION BY x.run, r.is_call, iif(r.is_call, x.file, f.path), iif(r.is_call, x.line, l.line)
      ORDER BY x.place_again_ns DESC, x.process, x.function) AS nth
  FROM (
    SELECT *, row_number() OVER (PARTITION BY run, process, function ORDER BY place_again_ns DESC, place) AS of_function
    FROM (
      SELECT *, row_number() OVER (PARTITION BY run, process, place ORDER BY is_in_loop AND NOT takes_turns DESC,
          iif(is_in_loop AND NOT takes_turns, total_ns, -total_ns), iif(is_in_loop AND NOT takes_turns, -function, function))
          AS of_place
      FROM x_again_call WHERE new_ns IS NULL OR total_ns < new_ns)
    WHERE of_place = 1) x
  JOIN (SELECT 1 AS is_call UNION ALL SELECT 0) r ON NOT r.is_call OR x.of_function = 1
  JOIN place(l, u, f) AT (x.process, x.place)
  JOIN function g ON g.process = x.process AND g.id = x.function
  WINDOW l AS (PARTITION BY x.run, r.is_call, iif(r.is_call, x.file, f.path), iif(r.is_call, x.line, l.line)))
WHERE nth = 1;

-- As x_told_finding has them. What is called is done once, so all its time is saved. A row for each line below says
-- which line calls.
CREATE VIEW x_again_told AS
SELECT x.run, NULL, x.file, x.line, x.function_name, x.first_line, x.other_file, x.other_line, NULL, NULL,
  iif(x.is_in_loop, 'loop-invariant computation', 'repeated native calls'),
  printf('%s() does again what it had done: %d of %d compared calls in it, or below, had been made before, by the same '
    || 'arguments or with the same long result, and they take %.3g of its %.3g s; most of it happens in %s:%d',
    iif(length(x.called) > 80, substr(x.called, 1, 79) || '…', x.called), x.same, x.compared, x.again_ns / 1e9, x.call_ns / 1e9,
    replace(substr(x.other_file, -255), rtrim(substr(x.other_file, -255), replace(substr(x.other_file, -255), '/', '')), ''),
    x.other_line) || iif(x.is_in_loop, '; the call is in a loop', ''), (
    SELECT a.advice FROM x_advice_again a WHERE a.about = iif(x.is_in_loop, 'loop-invariant computation', 'repeated native calls')),
  NULL, NULL, NULL, 1.0 * x.call_ns, t.repeat_low * x.again_ns, min(a.cpu_ns, t.calls_high * x.call_ns), x.again_ns, x.again_ns, NULL,
  1.0 * x.call_ns, a.cpu_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1,
  iif(x.is_call, iif(t.repeat_low * x.again_ns >= t.high_share * a.cpu_ns, 'high', 'low'), 'called'),
  iif(x.is_call, PIE_BASIS_SAME_CALLS, PIE_BASIS_WATCHES), 1
FROM x_again_line x JOIN x_total a ON a.run = x.run JOIN x_threshold t
WHERE x.call_ns >= t.high_share * a.cpu_ns;
