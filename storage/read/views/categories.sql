-- SPDX-License-Identifier: Apache-2.0
-- From the sums of a line to a verdict: figures with intervals, the category, what a fix saves, and the severity. Above
-- watched_lines.sql and arguments.sql, below evidence.sql.
--
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
-- although traps make such calls look long. is_within: library code below a line of own code whose own calls differ,
-- but for results that are yours to keep: few kinds of long ones, of a good part of the run.
CREATE VIEW x_finding AS
SELECT DISTINCT *, max(0, (fraction + h / 2 - sqrt(h * fraction * (1 - fraction) + h * h / 4)) / (1 + h)) AS fraction_low,
  min(1, (fraction + h / 2 + sqrt(h * fraction * (1 - fraction) + h * h / 4)) / (1 + h)) AS fraction_high,
  coalesce(mostly_low, max(0, (waste + g / 2 - sqrt(g * waste * (1 - waste) + g * g / 4)) / (1 + g))) AS waste_low,
  iif(mostly_low IS NOT NULL, mostly_high, min(1, (waste + g / 2 + sqrt(g * waste * (1 - waste) + g * g / 4)) / (1 + g))) AS waste_high
FROM (
  SELECT DISTINCT *, iif(is_reuse, all_traps, tell_traps) AS traps, iif(is_reuse, all_redundant, tell_redundant) AS redundant,
    iif(is_reuse, all_bytes, tell_bytes) AS bytes, iif(is_reuse, all_length_ns, tell_length_ns) AS length_ns,
    iif(is_reuse, all_ns, tell_ns) AS trap_ns, iif(is_reuse, all_redundant_ns, tell_redundant_ns) AS redundant_ns,
    iif(is_reuse, all_sq, tell_sq) AS trap_sq, iif(is_reuse, all_fraction, tell_fraction) AS fraction,
    iif(is_reuse, all_h, tell_h) AS h, CASE
      WHEN mostly_low IS NOT NULL THEN mostly_part
      WHEN short_share = 0 THEN 0
      WHEN kind = PIE_WATCH_STORE THEN short_share * min(tell_fraction, converged_part)
      ELSE short_share * tell_fraction END AS waste,
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
          coalesce(g.converged_s IS NULL AND g.compared >= x.arguments_min AND g.same
            < x.arguments_same * g.compared, 0) AS is_other_arguments,
          coalesce(g.converged_s IS NULL AND g.compared >= x.arguments_min AND g.more_seen > x.arguments_new * g.compared
            AND NOT (g.same >= x.same_fraction * g.compared AND g.come_again < x.arguments_again * g.compared), 0)
            AS is_new_arguments,
          coalesce(g.compared >= x.arguments_min AND g.more_seen > x.arguments_new * g.compared, 0) AS is_renewed,
          coalesce(x.library IS NULL AND g.compared >= x.few_same AND g.same = g.compared AND x.tell_redundant = x.tell_traps, 0)
            AS is_few_same,
          coalesce(g.same >= x.same_fraction * g.compared AND g.same_low >= x.arguments_same, 0) AS is_same_arguments,
          coalesce(x.library IS NOT NULL AND o.converged_s IS NULL AND o.compared >= x.arguments_min AND o.same
            < x.arguments_same * o.compared AND NOT (g.compared >= x.mostly_min AND g.same >= x.same_fraction * g.compared
            AND g.kinds <= c.kept_kinds AND x.tell_bytes >= c.kept_bytes * x.tell_redundant
            AND x.line_ns >= c.kept_share * a.cpu_ns), 0) AS is_within,
          x.kind = PIE_WATCH_STORE AND x.equal_values < x.values_min AND coalesce(g.long_same, 0) < x.values_min
            AND NOT coalesce(x.library IS NULL AND g.compared >= x.mostly_min AND g.same >= x.same_fraction * g.compared
              AND g.kinds >= x.values_min, 0) AS is_by_chance,
          iif(x.kind = PIE_WATCH_STORE, coalesce(g.long_same, 0), 0) AS long_same,
          g.same * 1.0 / g.compared AS mostly_part, g.same_high AS mostly_high, iif(x.kind = PIE_WATCH_STORE AND x.library IS NULL
            AND g.converged_s IS NULL AND g.long_same >= max(x.values_min, x.returned_traps) AND g.compared >= x.mostly_min
            AND g.same_low >= x.arguments_same, g.same_low, NULL) AS mostly_low,
          g.arguments_text, g.converged_s, coalesce(g.converged_part, 1.0) AS converged_part,
          coalesce(x.native_library, 'python') = 'python' AS is_standard,
          EXISTS (SELECT 1 FROM x_array_library b WHERE coalesce(x.native_library, '') GLOB b.library
            OR coalesce(x.advice_library, '') GLOB b.library) OR x.array_python_ns >= x.costly_python * x.line_ns AS is_about_arrays
        FROM x_lent_line x JOIN x_total a ON a.run = x.run JOIN x_one_threshold c
        LEFT JOIN x_line_arguments g ON g.run = x.run AND g.file = x.file AND g.line = x.line
        LEFT JOIN x_line_arguments o ON o.run = x.run AND o.file = x.user_file AND o.line = x.user_line
        WHERE x.all_redundant > 0 OR x.tell_redundant > 0))));

-- With the category (PieProf, table 1). A call that returns what the one before returned did what had been done,
-- whatever became of the memory in which it did so. Stores at a[i] that are no bulk work make the object of an element,
-- or a view, just as the one before. Deep copies are made to be changed, so equal ones cannot be one: a cheaper copy is
-- what helps. again_ns: what was looked up or computed again; severity goes by that.
CREATE VIEW x_named_finding AS
SELECT DISTINCT *, waste * line_ns AS again_ns, kind = PIE_WATCH_LOAD AND loop_share_found < loop_share AS is_in_no_loop,
  NOT by_return AND equal_values - line_returned_values < (SELECT values_part FROM x_one_threshold) * (tell_redundant - returned_redundant - returned_partly)
    AS is_of_few_values, CASE
  WHEN mostly_low IS NOT NULL THEN
    iif(loop_share_found >= loop_share AND NOT is_new_arguments, 'loop-invariant computation', 'repeated native calls')
  WHEN is_reuse OR lent_redundant < category_traps_min OR tell_redundant_ns <= 0 THEN 'undecided'
  WHEN is_return_decisive AND (line_returned_partly_ns >= line_returned_redundant_ns OR is_nearly_same) THEN 'inefficient algorithm'
  WHEN is_return_decisive AND NOT is_other_arguments AND (is_copying OR is_of_numbers AND is_about_arrays) THEN 'API misuse'
  WHEN is_return_decisive AND NOT is_other_arguments THEN
    iif(loop_share_found >= loop_share AND NOT is_new_arguments, 'loop-invariant computation', 'repeated native calls')
  WHEN native_library IS 'python' AND object_ns + array_ns + result_ns < values_share * tell_redundant_ns THEN 'undecided'
  WHEN kind = PIE_WATCH_LOAD AND loop_share_found >= loop_share AND (lent_item_ns >= item_share
    * iif(item_ns > 0, lent_redundant_ns, tell_redundant_ns) OR (put_ns > 0 AND item_ns >= item_put_share * tell_redundant_ns)) THEN 'slice underutilization'
  WHEN kind = PIE_WATCH_LOAD AND item_ns + call_ns >= call_share * tell_redundant_ns AND loop_share_found < loop_share
    THEN iif(item_ns > call_ns OR is_of_elements, 'slice underutilization', 'API misuse')
  WHEN kind = PIE_WATCH_LOAD AND call_ns >= call_share * tell_redundant_ns THEN iif(is_of_elements, 'slice underutilization', 'API misuse')
  WHEN kind = PIE_WATCH_LOAD OR fraction < partly_fraction THEN 'undecided'
  WHEN item_ns > call_ns AND bulk_ns < bulk_share * tell_redundant_ns THEN 'slice underutilization'
  WHEN fraction < same_fraction AND NOT is_same_arguments THEN
    iif(bulk_ns >= bulk_share * tell_redundant_ns AND (by_return OR fraction_low >= partly_low)
      AND NOT (by_return AND is_other_arguments AND line_returned_partly_ns <= line_returned_redundant_ns), 'inefficient algorithm', 'undecided')
  WHEN is_other_arguments THEN 'undecided'
  WHEN is_copying THEN 'API misuse'
  WHEN loop_share_found >= loop_share AND NOT is_new_arguments THEN 'loop-invariant computation'
  ELSE 'repeated native calls' END AS category
FROM (
  SELECT DISTINCT *, coalesce(iif(is_return_decisive, line_returned_loop_ns / line_again_ns, loop_ns / nullif(tell_redundant_ns, 0)),
    0) AS loop_share_found
  FROM (
    SELECT DISTINCT *, line_returned_redundant_ns + line_returned_partly_ns AS line_again_ns,
      coalesce(library IS NULL AND copy_ns >= copy_share * line_ns, 0) AS is_copying,
      converged_s IS NULL AND library IS NULL AND (run, file, line) IN (SELECT run, file, line FROM x_nearly_same) AS is_nearly_same,
      library IS NULL AND (run, file, line) IN (SELECT run, file, line FROM x_of_elements) AS is_of_elements,
      library IS NULL AND (run, file, line) IN (SELECT run, file, line FROM x_of_numbers) AS is_of_numbers,
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
    FROM x_finding WHERE redundant > 0 OR mostly_low IS NOT NULL));

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
    WHEN is_reuse THEN waste_high
    ELSE calls_high END) AS high_ns
FROM (
  SELECT DISTINCT *, category IN ('slice underutilization', 'API misuse') AS is_calls,
    category IN ('repeated native calls', 'loop-invariant computation', 'inefficient algorithm') AS is_repeat,
    kind = PIE_WATCH_STORE AND (category = 'inefficient algorithm' OR (is_same_arguments AND NOT is_return_decisive
      AND category IN ('repeated native calls', 'loop-invariant computation'))) AS is_whole,
    category = 'inefficient algorithm' AND is_of_few_values AS is_by_nature,
    is_in_no_loop AND category IN ('slice underutilization', 'API misuse') AS is_of_function,
    category <> 'undecided' AND NOT is_by_chance AND NOT (category = 'inefficient algorithm' AND is_of_few_values)
      AND (category <> 'API misuse' AND NOT (is_in_no_loop AND category = 'slice underutilization') OR is_about_arrays OR is_copying)
      AS is_decided
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
      WHEN (is_of_function OR category = 'API misuse') AND kind = PIE_WATCH_LOAD AND NOT is_costly
        AND (handful < iif(array_python_ns > 0, handful_share, direct_share)
          OR (array_python_ns = 0 AND waste_low < direct_low) OR tell_traps < (SELECT own_traps FROM x_one_threshold)) THEN 'low'
      WHEN tell_traps + long_same >= high_traps AND waste_low >= high_low AND waste >= high_part AND again_ns >= high_share * run_ns THEN 'high'
      WHEN is_repeat AND is_few_same AND tell_traps >= few_same AND waste_low >= high_low
        AND line_returned_below_ns < below_part * line_returned_ns
        AND again_ns >= few_same_share * run_ns THEN 'high'
      WHEN is_calls AND kind = PIE_WATCH_LOAD AND lent_traps >= calls_traps AND waste_low >= calls_waste_low AND waste >= calls_part
        AND fraction_low >= calls_fraction AND fix_low_ns >= high_share * run_ns THEN 'high'
      WHEN is_calls AND kind = PIE_WATCH_LOAD AND lent_traps >= few_traps AND waste_low >= high_low AND waste >= few_part
        AND fix_low_ns >= high_share * run_ns THEN 'high'
      WHEN is_calls AND is_costly AND tell_traps >= calls_traps AND fix_low_ns >= high_share * run_ns THEN 'high'
      ELSE 'low' END AS severity
  FROM x_valued_finding);
