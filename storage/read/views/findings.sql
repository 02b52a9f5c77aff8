-- SPDX-License-Identifier: Apache-2.0
-- All findings together, whatever they come from, in the order of their worth: by line and by function. A finding is a
-- line: of own code with all library and native code that ran below it, or of library code. Above evidence.sql and the
-- other views that find something (growth.sql, reads.sql, work.sql, passes.sql).

-- All findings. Of what findings of a line rest on (basis.sql), that of the highest rank is the line's. Where a line
-- passes over the same data again and again, results may be nearly the same each time, and prove only with the same
-- arguments (is_argued).
CREATE VIEW x_told_finding AS
SELECT run, coalesce(kind, access) AS kind, file, line, function, function_line, first_file, first_line, native_function,
  native_library, category, evidence, advice, fraction, fraction_low, fraction_high, wasted_ns, low_ns, high_ns, again_ns,
  again_low_ns, again_high_ns, line_ns, run_ns, short_share, bytes, traps, watches, sampler, library,
  iif(basis = PIE_BASIS_SAME_CALLS, NULL, coalesce(call_file, user_file)) AS user_file,
  iif(basis = PIE_BASIS_SAME_CALLS, NULL, coalesce(call_line, user_line)) AS user_line,
  redundant_ns, trap_ns, trap_sq, is_reuse, is_decided, basis,
  iif((line_basis AND NOT basis OR line_passes AND NOT is_argued) AND severity = 'high', 'low', severity) AS severity
FROM (
  SELECT *, max(iif(severity = 'called', first_file, NULL)) OVER v AS call_file,
    max(iif(severity = 'called', first_line, NULL)) OVER v AS call_line
  FROM (SELECT *, max(basis) OVER g AS line_basis, max(iif(is_alone, basis, 0)) OVER g AS alone_basis, max(severity = 'maybe') OVER g AS line_passes,
    count(*) OVER g AS line_rows,
    max(severity = 'high' AND is_argued) OVER g AS line_high
  FROM (
    SELECT run, kind, file, line, function, function_line, first_file, first_line, native_function, native_library,
      category, evidence, advice, fraction, fraction_low, fraction_high, wasted_ns, low_ns, high_ns, again_ns,
      again_low_ns, again_high_ns, line_ns, run_ns, short_share, bytes, traps, watches, sampler, library,
      user_file, user_line, redundant_ns, trap_ns, trap_sq, is_reuse, is_decided, severity, PIE_BASIS_WATCHES AS basis, NOT is_repeat OR is_same_arguments
        OR (category <> 'inefficient algorithm' AND NOT by_return AND NOT is_return_decisive) AS is_argued
    FROM x_explained_finding
    UNION ALL
    SELECT run, NULL, file, line, function, function_line, NULL, NULL, native_function, native_library,
      'inefficient algorithm', evidence, advice, NULL, NULL, NULL, saved_ns, calls_low * saved_ns,
      min(calls_high * saved_ns, run_ns), copies_ns, copies_ns, NULL, line_ns, run_ns, NULL, bytes, NULL, NULL, NULL, NULL,
      NULL, NULL, NULL, NULL, NULL, 0, 1, 'high',
      iif(about = 'shifts', PIE_BASIS_SHIFTS, PIE_BASIS_COPIES), 1
    FROM x_copying_finding
    UNION ALL
    SELECT run, NULL, file, line, function, function_line, NULL, NULL, native_function, native_library,
      'inefficient algorithm', evidence, advice, NULL, NULL, NULL, saved_ns, low_ns, high_ns, reads_ns, reads_ns, NULL,
      line_ns, run_ns, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 1, 'high', PIE_BASIS_READS, 1
    FROM x_reading_finding
    UNION ALL
    SELECT * FROM x_work_told
    UNION ALL
    SELECT * FROM x_again_told
    UNION ALL
    SELECT * FROM x_called_told
    UNION ALL
    SELECT * FROM x_passed_told
    UNION ALL
    SELECT * FROM x_element_told
    UNION ALL
    SELECT * FROM x_hot_told
    UNION ALL
    SELECT run, PIE_WATCH_LOAD, file, line, function, function_line, NULL, NULL, native_function, native_library,
      'whole re-reads', evidence, advice, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, line_ns, run_ns, NULL,
      NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, pass_ns, NULL, 1, 0, 'maybe', PIE_BASIS_WATCHES, 1
    FROM x_passing_finding) JOIN x_basis USING (basis)
  WINDOW g AS (PARTITION BY run, file, line))
  WINDOW v AS (PARTITION BY run, coalesce(user_file, file), coalesce(user_line, line)))
WHERE severity <> 'called'
  AND iif(line_basis = alone_basis, basis = line_basis, basis OR kind = PIE_WATCH_LOAD)
  AND NOT (severity IN ('hot', 'warm') AND line_rows > 1)
  AND iif(severity = 'maybe', NOT line_high, NOT (line_passes AND is_reuse AND NOT line_high));

CREATE VIEW v_redundancy AS
SELECT run, proven_rank AS rank, iif(kind = PIE_WATCH_LOAD, 'load', 'store') AS kind, file, line, function,
  line_first_file AS first_file, line_first_line AS first_line, native_function, native_library, line_category AS category, line_evidence AS evidence, line_advice AS advice, fraction AS redundant_fraction, fraction_low,
  fraction_high,
  wasted_ns / 1e9 AS wasted_s, 1.0 * wasted_ns / nullif(run_ns, 0) AS wasted_share, bytes, traps, sampler,
  line_severity AS severity,
  library, user_file, user_line, low_ns / 1e9 AS wasted_s_low, high_ns / 1e9 AS wasted_s_high,
  line_ns / 1e9 AS cpu_s, iif(kind = PIE_WATCH_LOAD, short_share, NULL) AS short_share, watches, verdict, proof AS facts,
  fix_gain_ns / 1e9 AS gain_s, again_ns / 1e9 AS again_s, iif(basis, NULL, again_low_ns / 1e9) AS again_s_low,
  again_high_ns / 1e9 AS again_s_high, done_again AS again, most_ns / 1e9 AS gain_most_s,
  iif(most_ns IS NULL, NULL, within) AS gain_within, becomes_known IS TRUE AS is_known
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
  1.0 * wasted_ns / nullif(run_ns, 0) AS wasted_share, bytes, traps, sampler, severity, library, user_file, user_line,
  low_ns / 1e9 AS wasted_s_low, high_ns / 1e9 AS wasted_s_high, line_ns / 1e9 AS cpu_s, watches, lines, worst_line,
  iif(nth = 1, verdict, NULL) AS verdict, iif(nth = 1, proof, NULL) AS facts,
  iif(nth = 1, fix_gain_ns, NULL) / 1e9 AS gain_s, again_ns / 1e9 AS again_s,
  iif(basis, NULL, again_low_ns / 1e9) AS again_s_low, iif(basis, NULL, again_high_ns / 1e9) AS again_s_high,
  done_again AS again, iif(nth = 1, most_ns, NULL) / 1e9 AS gain_most_s,
  iif(nth = 1 AND most_ns IS NOT NULL, within, NULL) AS gain_within, is_known
FROM (
  SELECT DISTINCT *, iif(sum_severity = 'high' AND (nth > 1 OR (user_file IS NOT NULL AND is_evidence)), 'low', sum_severity)
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
          WHEN basis THEN 'high'
          WHEN is_decided AND traps >= high_traps AND again_low_ns >= high_low * line_ns
            AND again_ns >= high_part * line_ns AND again_ns >= high_share * run_ns THEN 'high'
          ELSE 'low' END AS sum_severity
      FROM (
        SELECT run, kind, file, function_line AS line, function, native_function, native_library,
          line_category AS category, line_evidence AS evidence, line_advice AS advice, library, user_file, user_line, line AS worst_line, is_reuse, is_decided,
          run_ns, found_verdict, verdict, proof, fix_gain_ns, most_ns, within, done_again,
          kind_text, is_evidence, line_severity AS worst_severity, becomes_known IS TRUE AS is_known,
          max(sampler) OVER g AS sampler, sum(redundant_ns) OVER g AS redundant_ns,
          sum(trap_ns) OVER g AS trap_ns, sum(trap_sq) OVER g AS trap_sq, sum(wasted_ns) OVER g AS wasted_ns,
          sum(low_ns) OVER g AS low_ns, sum(high_ns) OVER g AS high_ns, sum(again_ns) OVER g AS again_ns,
          sum(again_low_ns) OVER g AS again_low_ns, sum(again_high_ns) OVER g AS again_high_ns, max(basis) OVER g AS basis,
          sum(line_ns) OVER g AS line_ns, sum(bytes) OVER g AS bytes, sum(traps) OVER g AS traps,
          sum(watches) OVER g AS watches, count(*) OVER g AS lines,
          row_number() OVER (PARTITION BY run, kind, file, function, function_line, is_reuse ORDER BY proven_rank) AS line_nth
        FROM x_confirmed_finding
        WINDOW g AS (PARTITION BY run, kind, file, function, function_line, is_reuse))
      JOIN (SELECT z2, high_traps, high_low, high_part, high_share FROM x_threshold)
      WHERE line_nth = 1)
    WHERE part = 1));
