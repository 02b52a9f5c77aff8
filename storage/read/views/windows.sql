-- SPDX-License-Identifier: Apache-2.0
-- What the run itself counted in windows (the table windowed), and what it says about the findings: above
-- x_told_finding of findings.sql, below confirm.sql. A window has calls in a row, and what was seen is kept from one
-- window to the next.

-- All figures to tune are here. Between what is decided as "again" and as "new" there is a margin, so that one more
-- window changes no verdict.
CREATE VIEW x_window_threshold AS SELECT
  12 AS again_calls,       -- made before: this number of the callee's calls at least,
  0.6 AS again_part,       -- and this part of the line's counted time at least comes again,
  0.25 AS known_part,      -- or of the time of calls with values only, if these take this part of the line's time,
  0.9 AS pure_part,        -- where this part of the calls with arguments that were met before had their result
  256 AS kept_max,         -- results that take little memory to keep: more of them are a cache's to decide
  256 AS long_bytes,       -- arguments of this length are wanted again for their content: where the result cannot be
  2e4 AS long_ns,          -- read, the same ones are the same call, if it takes this long,
  100 AS new_calls,        -- new: of this number of calls
  0.4 AS new_part,         -- at most this part of the time comes again,
  0.1 AS few_part,         -- less than this part makes no category
  0.95 AS compared_part,   -- and this part of them at least was compared by value
  0.5 AS same_part,        -- the same in each round of a loop: this part of what came again had the arguments of the
                           -- call before
  0.3 AS callee_part,      -- what comes again is this part of the line's whole time: len() in a loop is called again,
                           -- but the line's time goes to its own bytecode, which no call takes,
  5e3 AS callee_ns,        -- or a call takes this long, such as that of a function of own code. Of shorter ones of
  0.9 AS in_row_part,      -- single numbers that come again this part at least has the numbers of the call before
  100 AS array_calls,      -- no element access: of this number of operations at the lines of a function,
  0.5 AS array_part,       -- this part of the time at least goes to those on arrays (and, of as many at a line, as
                           -- much to single elements and numbers where these decide),
  0.1 AS single_part,      -- and no more than this to those on single elements,
  20 AS bulk_traps,        -- nor calls that do little, by fewer watches than this, if that part of the time goes to
                           -- operators on arrays, or by any number if it goes to arrays of 64 elements or more,
  5e6 AS few_ns,           -- nor many short calls, if all but single_part goes to calls that take this long, or that
  4096 AS done_bytes,      -- take long_ns, have other arguments each time, of this length, and no result of their own
  0.3 AS python_part,      -- calls cost more than what they do: this part of the time is Python code of a library,
  0.25 AS hot_part,        -- the line takes this part of the run's CPU time,
  100 AS costly_calls,     -- and of the callee that takes this part of the counted time this number of calls at least
  0.6 AS costly_part,      -- was counted, which mostly do not come again
  2e5 AS costly_ns,        -- and take no longer than this. Half of the line's time stands for what a better one saves
  0.25 AS wrapped_part,    -- many calls, few watches: this part of the line's time is Python code of an array library,
  50 AS wrapped_calls,     -- this number of calls was counted, of which less than few_part comes again,
  0.45 AS wrapped_most,    -- and those of the main callee take no longer than short_ns, or twice that if the part is
  1.5e5 AS short_ns,       -- as large as this
  0.9 AS element_all,      -- single elements: this part of the counted time goes to single elements and numbers,
  0.3 AS element_part,     -- and this part of it fetches or stores them; calls of single numbers: as costly_part of it
  0.12 AS element_few;     -- goes to calls, operators aside, and no more than this part fetches elements

-- By callee. Calls with the same long arguments by value count as made before, whatever they return. If of n calls k
-- met arguments that came once, the next one is new with a chance of k / n, whatever the distribution (Good, "The
-- population frequencies of species", 1953). So the other part of the calls comes again, though some were the first of
-- their kind in the windows. That goes for calls whose results were the same with the same arguments. kinds_low: the
-- least number of kinds that there are (Chao, "Nonparametric estimation of the number of classes", 1984). A short call
-- of single numbers costs what it takes to look its result up, and numbers that come out of arrays are equal by nature.
-- So nothing of it comes again unless nearly each has the numbers of the one before, and no elements are fetched. A
-- long call with other arguments each time, and always the same result, is made for its effect (is_done): a step of an
-- optimizer, backward(). It handles no single number, whatever it takes.
CREATE VIEW x_windowed_callee AS
SELECT run, file, line, callee, is_item, is_in_loop, calls, compared, kinds, again, same, call_ns, alike_ns, iif(is_done, 0, single_ns) AS single_ns,
  bulk_ns, is_done AND is_on_much AS is_done, iif(singles = 0 AND (callee GLOB '*numpy.ndarray*' OR callee GLOB '*Tensor *' OR callee GLOB '* Tensor'), call_ns, bulk_ns)
    AS array_ns,
  is_item AND (callee GLOB '* of *[._]*' OR callee GLOB '* of [A-Z]*') AS is_of_array,
  is_item AND callee GLOB 'for *' AND callee <> 'for x in iterator' AS is_step,
  kinds + 1.0 * once * once / (2 * (twice + 1)) AS kinds_low,
  CASE WHEN is_number THEN 0.0
    WHEN calls > 0 AND again > 0 AND again >= pure_part * (calls - kinds) THEN max(again_ns, 1.0 * call_ns * (calls - once) / calls)
    ELSE 1.0 * again_ns END AS again_ns
FROM (
  SELECT p.run, w.file, w.line, w.callee, w.is_item, w.is_in_loop, w.calls - w.raised AS calls, w.compared,
    w.distinct_args AS kinds, w.once, w.twice, w.same, w.call_ns, w.alike_ns, w.singles, w.single_ns, w.bulk_ns, t.pure_part,
    w.again + iif(d.is_long, w.alike, 0) AS again, w.again_ns + iif(d.is_long, w.alike_ns, 0) AS again_ns,
    NOT w.is_item AND w.singles = w.calls AND w.call_ns < t.callee_ns * w.calls AND (w.same < t.in_row_part * w.again OR EXISTS (
      SELECT 1 FROM windowed e WHERE e.process = w.process AND e.file = w.file AND e.line = w.line AND e.is_item
        AND e.singles >= w.calls AND (2 * e.once > e.calls OR e.callee GLOB 'for *'))) AS is_number,
    NOT w.is_item AND w.compared > 1 AND w.once = w.compared AND w.distinct_results = 1 AND w.call_ns >= t.long_ns * w.calls
      AS is_done, w.arg_bytes >= t.done_bytes * w.calls AS is_on_much
  FROM process p JOIN windowed w ON w.process = p.id JOIN x_window_threshold t
  JOIN (SELECT 1 AS is_long UNION ALL SELECT 0) d
    ON d.is_long = (NOT w.is_item AND w.compared = w.calls - w.raised AND w.arg_bytes >= t.long_bytes * w.calls
      AND w.call_ns >= t.long_ns * w.calls));

-- By line. Its callee is the one that takes most time of those whose calls can be compared.
CREATE VIEW x_windowed_line AS
SELECT x.*, again_ns / nullif(call_ns, 0) AS again_part,
  top_again >= t.again_calls AND top_kinds <= t.kept_max AND (again_ns >= t.again_part * call_ns
    OR (known_ns >= t.known_part * call_ns AND again_ns >= t.again_part * known_ns)) AS is_again,
  calls >= t.new_calls AND again_ns + alike_ns <= t.new_part * call_ns
    AND compared >= t.compared_part * calls AS may_be_new, t.new_part,
  is_in_loop AND top_same >= t.same_part * top_again AS is_invariant,
  CASE WHEN all_calls < t.wrapped_calls OR again_ns >= t.few_part * call_ns OR top_ns > 2 * t.short_ns * top_calls THEN NULL
    WHEN top_ns > t.short_ns * top_calls THEN t.wrapped_most ELSE t.wrapped_part END AS wrapped_python_part,
  all_calls >= t.array_calls AND plain_ns >= t.costly_part * call_ns AND item_ns <= t.element_few * call_ns AS is_of_calls,
  all_calls >= t.array_calls AND single_ns >= t.element_all * call_ns AND element_ns >= t.element_part * call_ns AS is_of_singles
FROM (
  SELECT run, file, line, callee AS top, calls AS top_calls, call_ns AS top_ns, kinds_low, again AS top_again, kinds AS top_kinds,
    same AS top_same, is_in_loop, sum(iif(is_item, 0, calls)) OVER g AS calls,
    sum(iif(is_item, 0, compared)) OVER g AS compared, 1.0 * sum(call_ns) OVER g AS call_ns,
    sum(again_ns) OVER g AS again_ns, sum(alike_ns) OVER g AS alike_ns, sum(array_ns) OVER g AS array_ns,
    sum(single_ns) OVER g AS single_ns, sum(iif(is_of_array, single_ns, 0)) OVER g AS element_ns,
    sum(iif(is_step, single_ns, 0)) OVER g AS step_ns,
    sum(iif(is_item, call_ns, 0)) OVER g AS item_ns, sum(iif(is_item OR callee GLOB '* * *', 0, call_ns)) OVER g AS plain_ns,
    sum(bulk_ns) OVER g AS bulk_ns, sum(iif(compared < calls OR is_item, 0, call_ns)) OVER g AS known_ns,
    sum(iif(is_done OR call_ns >= few_ns * calls AND NOT is_item, call_ns, 0)) OVER g AS long_ns, sum(calls) OVER g AS all_calls,
    row_number() OVER (PARTITION BY run, file, line ORDER BY compared < calls, call_ns DESC, callee) AS nth
  FROM x_windowed_callee JOIN (SELECT few_ns FROM x_window_threshold)
  WINDOW g AS (PARTITION BY run, file, line)) x
JOIN x_window_threshold t
WHERE nth = 1;

-- The part of a counted line's CPU time that does not go to its own bytecode: its calls have no more than that. And the
-- part that goes to Python code of libraries.
CREATE VIEW x_windowed_below AS
SELECT s.run, f.path AS file, l.line,
  1 - sum(iif(s.line_location IS s.own_location, 1.0 * s.python_ns, 0)) / nullif(sum(s.cpu_ns), 0) AS below_part,
  sum(iif(s.line_location IS s.own_location, 0, 1.0 * s.python_ns)) / nullif(sum(s.cpu_ns), 0) AS python_part
FROM (SELECT DISTINCT process FROM windowed) w CROSS JOIN x_place_cost s ON s.process = w.process
JOIN place(l, u, f) AT (s.process, s.own_location)
WHERE s.kind = 1 AND (f.path, l.line) IN (SELECT file, line FROM windowed)
GROUP BY s.run, f.path, l.line;

-- Findings beside what windows say of their own line: a library's beside that of the line that led there. Which one of
-- an own line says what its calls are about: its stores, or else what it looks up. A line that grows or searches is
-- known by its sizes. What is new in the windows may come again later, in a run that makes more calls than there are
-- kinds: the line made as many calls as its time has room for. What a library computes again below such calls is no
-- matter of theirs, if it has watches enough (mostly_min) and takes a good part of the run.
CREATE VIEW x_windowed_beside AS
SELECT x.*, few_part, calls_low, high_share, is_again IS TRUE AND library IS NULL AND NOT max(basis) OVER g AND row_number() OVER (
    PARTITION BY run, file, line ORDER BY kind <> PIE_WATCH_STORE, is_reuse, severity = 'low', wasted_ns DESC) = 1
    AND (top_ns >= callee_ns * top_calls OR again_part * coalesce(below_part, 1) >= callee_part) AS becomes_again,
  may_be_new IS TRUE AND severity = 'high'
    AND category IN ('repeated native calls', 'loop-invariant computation') AND NOT basis
    AND NOT (library IS NOT NULL AND traps >= mostly_min AND again_ns >= kept_share * run_ns)
    AND top_ns * min(1 - again_part, kinds_low / (line_ns * top_calls / call_ns)) >= (1 - new_part) * call_ns AS becomes_new,
  is_about_calls AND severity = 'high' AND function_calls >= array_calls
    AND iif(category = 'API misuse' AND traps >= bulk_traps, function_bulk_ns, function_array_ns) >= array_part * function_call_ns
    AND function_single_ns <= single_part * function_call_ns AS is_of_arrays,
  is_about_calls AND severity = 'high' AND category = 'API misuse' AND library IS NULL AND long_ns > 0 AND long_ns >= (1 - single_part) * call_ns
    AND single_ns <= single_part * call_ns AS is_of_few,
  library IS NULL AND row_number() OVER (PARTITION BY run, file, line ORDER BY kind <> PIE_WATCH_STORE, is_reuse, severity = 'low', wasted_ns DESC) = 1
    AND NOT max(basis OR category <> 'undecided') OVER g AND line_ns >= hot_part * run_ns AND line_python_part >= python_part
    AND top_calls >= costly_calls AND top_ns >= costly_part * call_ns AND top_ns <= costly_ns * top_calls AND NOT is_again
    AS becomes_costly,
  is_about_calls AND is_decided AND severity = 'low' AND library IS NULL AND all_calls >= array_calls AND single_ns - step_ns >= array_part * call_ns
    AND calls_low * line_ns >= high_share * run_ns AS becomes_single,
  is_about_calls AND is_decided AND severity = 'low' AND library IS NULL AND line_python_part >= wrapped_python_part
    AND calls_low * line_ns >= high_share * run_ns AS becomes_wrapped,
  is_about_calls AND is_of_calls AND library IS NULL AND category = 'slice underutilization' AS becomes_calls,
  library IS NULL AND is_of_singles AND NOT basis AND (category = 'inefficient algorithm' OR category = 'undecided' AND severity = 'low'
      AND calls_low * line_ns >= high_share * run_ns AND below_part >= array_part AND NOT max(category <> 'undecided') OVER g)
    AS becomes_elements,
  known IS NOT NULL AND known_ns >= max(known_part * line_ns, known_run_part * run_ns) AND library IS NULL AND row_number() OVER (
    PARTITION BY run, file, line ORDER BY is_reuse, severity = 'low', wasted_ns DESC) = 1
    AND NOT max(basis OR severity = 'high' OR is_again IS TRUE) OVER g AS is_known
FROM (
  SELECT f.*, k.known, k.library AS known_library, k.known_category, k.known_advice, k.known_ns, k.known_part, k.known_run_part, k.saved, f.kind = PIE_WATCH_LOAD AND NOT f.basis AND f.category IN ('slice underutilization', 'API misuse') AS is_about_calls,
    w.long_ns, w.all_calls, w.single_ns, w.step_ns, w.wrapped_python_part, w.is_of_calls, w.is_of_singles, w.top, w.top_calls, w.top_again, w.top_kinds, w.top_ns, w.call_ns, w.kinds_low, w.again_part, w.is_invariant, w.is_again,
    w.may_be_new, w.new_part, sum(w.all_calls) OVER u AS function_calls, sum(w.call_ns) OVER u AS function_call_ns,
    sum(w.array_ns) OVER u AS function_array_ns, sum(w.bulk_ns) OVER u AS function_bulk_ns, b.below_part, b.python_part AS line_python_part, sum(w.single_ns) OVER u AS function_single_ns
  FROM x_told_finding f
  LEFT JOIN x_windowed_line w ON w.run = f.run AND w.file = iif(f.library IS NULL, f.file, f.user_file)
    AND w.line = iif(f.library IS NULL, f.line, f.user_line)
  LEFT JOIN x_windowed_below b ON b.run = w.run AND b.file = w.file AND b.line = w.line
  LEFT JOIN x_known_line k ON k.run = f.run AND k.file = f.file AND k.line = f.line
  WINDOW u AS (PARTITION BY f.run, f.file, f.function)) x
JOIN (SELECT array_calls, array_part, single_part, bulk_traps, callee_part, callee_ns, python_part, hot_part, costly_calls,
  costly_part, costly_ns, few_part FROM x_window_threshold)
JOIN (SELECT mostly_min, calls_low, high_share FROM x_threshold) JOIN (SELECT kept_share FROM x_one_threshold)
WINDOW g AS (PARTITION BY run, file, line);

-- What is high keeps its name: repeated and invariant differ in where the result is kept, a deep copy is to be changed.
-- But a part of memory may be the same by chance, so counted calls outweigh an inefficient algorithm.
CREATE VIEW x_windowed_changed AS
SELECT DISTINCT *, is_changed OR becomes_new AS is_recounted, again_part * line_ns AS counted_again_ns,
  CASE WHEN top = 'deepcopy' THEN 'API misuse' WHEN is_invariant THEN 'loop-invariant computation'
    ELSE 'repeated native calls' END AS again_category,
  printf('of %d calls of %s that were counted, %d were made before: %d different; ', top_calls, top, top_again, top_kinds)
    AS counted_text
FROM (SELECT *, becomes_again AND NOT (severity = 'high' AND category NOT IN ('undecided', 'inefficient algorithm')) AS is_changed,
    is_known AND NOT becomes_single AND NOT becomes_wrapped AND NOT becomes_elements AS becomes_known
  FROM x_windowed_beside);

-- What came again is waste, with the interval of what is computed again. What is new is none.
CREATE VIEW x_windowed_said AS
SELECT run, kind, file, line, function, function_line, first_file, first_line, native_function, native_library,
  CASE WHEN is_changed THEN again_category WHEN becomes_new AND again_part < few_part THEN 'undecided'
    WHEN becomes_known THEN known_category WHEN becomes_costly OR becomes_calls THEN 'API misuse'
    WHEN becomes_elements THEN 'slice underutilization' ELSE category END AS category,
  iif(becomes_known, printf('%.0f %% of its time is in %s() of %s, for which there often is a quicker way; ', 100 * known_ns / line_ns,
    known, known_library), '') || iif(becomes_again OR becomes_new, counted_text, '') || iif(becomes_costly, printf('for %.0f %% of its time the line is in '
    || 'Python code of a library; of %d calls of %s that were counted, %d were made before, and each takes %.3g us; ',
    100 * line_python_part, top_calls, top, top_again, top_ns / 1e3 / top_calls), '') || evidence || iif(is_of_arrays, printf('; but of the operations that '
    || 'were counted in its function, those on arrays took %.0f %% of the time, and those on single elements %.0f %%',
    100 * function_array_ns / function_call_ns, 100 * function_single_ns / function_call_ns), '')
    || iif(is_of_few, printf('; but a call at this line takes %.3g ms, so it is the library that makes the short ones', 1.0 * top_ns / top_calls / 1e6), '')
    || iif(becomes_wrapped, printf('; for %.0f %% of its time the line is in Python code of a library, and %d calls were '
      || 'counted, which differ; those of %s take %.3g us', 100 * line_python_part, all_calls, top, top_ns / 1e3 / top_calls), '')
    || iif(becomes_calls, '; of the time that was counted at the line, most went to calls', '')
    || iif(becomes_single OR becomes_elements, printf('; of the time that was counted at the line, %.0f %% went to single elements and numbers',
      100 * single_ns / call_ns), '') AS evidence,
  iif(is_changed, (SELECT a.advice FROM x_advice_again a WHERE a.about = iif(top = 'deepcopy', 'deep copies', again_category)),
    CASE WHEN becomes_known THEN known_advice
      WHEN becomes_costly OR becomes_elements THEN (SELECT a.advice FROM x_advice_again a
        WHERE a.about = iif(becomes_costly, 'costly calls', 'single elements')) ELSE advice END) AS advice,
  fraction, fraction_low, fraction_high, CASE WHEN is_recounted THEN counted_again_ns WHEN becomes_known THEN saved * known_ns
    WHEN becomes_costly THEN 0.5 * line_ns WHEN becomes_elements THEN 1.0 * line_ns ELSE wasted_ns END AS wasted_ns,
  CASE WHEN is_recounted THEN repeat_low * counted_again_ns WHEN becomes_single OR becomes_wrapped OR becomes_elements THEN calls_low * line_ns
    WHEN becomes_costly OR becomes_known THEN 0 ELSE low_ns END AS low_ns,
  CASE WHEN is_recounted THEN min(run_ns, repeat_high * counted_again_ns)
    WHEN becomes_costly OR becomes_known OR becomes_elements THEN min(run_ns, calls_high * line_ns) ELSE high_ns END AS high_ns,
  CASE WHEN is_recounted THEN counted_again_ns WHEN becomes_known THEN saved * known_ns ELSE again_ns END AS again_ns,
  CASE WHEN is_recounted THEN repeat_low * counted_again_ns WHEN becomes_known THEN NULL ELSE again_low_ns END AS again_low_ns,
  CASE WHEN is_recounted THEN min(line_ns, repeat_high * counted_again_ns) WHEN becomes_known THEN NULL
    ELSE again_high_ns END AS again_high_ns,
  line_ns, run_ns, short_share, bytes, traps, watches, sampler, library, user_file, user_line, redundant_ns, trap_ns,
  trap_sq, is_reuse AND NOT is_changed AND NOT becomes_costly AND NOT becomes_known AS is_reuse, is_decided OR is_changed OR becomes_elements AS is_decided, basis, CASE
    WHEN is_changed THEN iif(counted_again_ns >= high_share * run_ns, 'high', 'low')
    WHEN becomes_new OR is_of_arrays OR is_of_few THEN 'low'
    WHEN becomes_single OR becomes_wrapped OR becomes_elements THEN 'high'
    WHEN becomes_costly OR becomes_known OR severity = 'hot' THEN 'low'
    ELSE severity END AS severity, becomes_known
FROM x_windowed_changed JOIN (SELECT repeat_low, repeat_high, calls_high FROM x_threshold);

-- Findings with that, in the order of their worth. What is only reuse comes last, whatever it costs, and one or two
-- comparisons that decide nothing come after what is decided.
CREATE VIEW x_windowed_finding AS
SELECT *, row_number() OVER (PARTITION BY run ORDER BY severity = 'reuse', severity = 'maybe', severity = 'low',
    coalesce(category = 'undecided' AND traps < (SELECT category_traps_min FROM x_threshold), 0), wasted_ns DESC,
    library IS NOT NULL, trap_ns DESC, file, line, kind) AS rank
FROM x_windowed_said
WHERE severity <> 'warm';
