-- SPDX-License-Identifier: Apache-2.0
-- Lines whose waste is sure, and lines of weight of which nothing is decided. What the first waste together,
-- statements/shared_waste.sql works out. Above findings.sql and hot.sql.

-- Findings that are high, of each line the one of most worth. A library's line stands for the line of own code that led
-- to it (own_file, own_line), unless that has one itself.
CREATE VIEW x_high_finding AS
SELECT *
FROM (
  SELECT *, max(library IS NULL) OVER (PARTITION BY run, own_file, own_line) AS has_own
  FROM (
    SELECT *, iif(library IS NULL, file, coalesce(user_file, file)) AS own_file,
      iif(library IS NULL, line, coalesce(user_line, line)) AS own_line,
      row_number() OVER (PARTITION BY run, file, line ORDER BY rank) AS nth
    FROM v_redundancy WHERE severity = 'high')
  WHERE nth = 1)
WHERE library IS NULL OR NOT has_own;

CREATE VIEW x_wasteful_line AS
SELECT run, rank, own_file AS file, own_line AS line, cpu_s, wasted_s, wasted_s_low, wasted_s_high
FROM (
  SELECT *, row_number() OVER (PARTITION BY run, own_file, own_line ORDER BY rank) AS of_line
  FROM x_high_finding WHERE wasted_s > 0)
WHERE of_line = 1;

-- What is said where nothing is high: the lines that take a good part of the run, what is known of their calls, and
-- what to do. count_finding: to count its calls decides more (pieprof confirm --finding). may_waste: the line has a
-- finding with a category or with comparisons. Where too little was compared in the run, only what was counted is said.
CREATE VIEW x_undecided_line AS
SELECT run, file, line, share, new_calls, iif(calls_nothing_again, NULL, count_finding) AS count_finding, may_waste, CASE
    WHEN starts_libraries THEN 'spread over the libraries below it, which call your code'
    WHEN new_calls > 0 THEN printf('but no call is made again: %d %s had other arguments each time', new_calls,
      coalesce('counted calls of ' || callee, 'calls compared at the line or below it'))
    WHEN runs_once THEN 'and runs only once'
    WHEN count_finding IS NULL THEN 'and no call of it was compared'
    WHEN comparisons = 0 THEN 'and nothing was compared that tells whether all of it is needed'
    ELSE printf('and %d comparison%s not tell whether all of it is needed', comparisons, iif(comparisons = 1, ' does', 's do'))
    END AS known, CASE
    WHEN calls_nothing_again THEN printf('see what takes its time with "call tree of %s:%d"',
      replace(file_end, rtrim(file_end, replace(file_end, '/', '')), ''), line)
    WHEN count_finding IS NULL THEN 'pieprof sees only work that is done again: look at the line''s own algorithm, or for '
      || 'another call that does the same'
    ELSE 'if none comes again, look at the line''s own algorithm' END AS what_to_do
FROM (
  SELECT h.run, h.file, substr(h.file, -255) AS file_end, h.line, h.share, h.callee, h.comparisons, h.runs_once, h.starts_libraries,
    h.starts_libraries OR h.runs_once AND h.new_calls IS NULL AS calls_nothing_again, h.new_calls,
    iif(h.new_calls > 0, NULL, min(k.rank)) AS count_finding,
    coalesce(max(k.severity = 'maybe'), 0) AS is_maybe,
    coalesce(max(k.may_waste AND NOT (k.category = 'undecided' AND coalesce(h.new_calls, 0))), 0) AS may_waste
  FROM x_heavy_line h LEFT JOIN (
    SELECT v.run, v.file, v.line, v.rank, v.severity, v.category, v.severity = 'low' AND v.traps >= t.category_traps_min
      AND 1e9 * iif(v.category = 'undecided', v.again_s_high, v.wasted_s_high) >= e.warm_part * a.cpu_ns AS may_waste
    FROM v_redundancy v JOIN x_threshold t JOIN x_hot_threshold e JOIN x_total a ON a.run = v.run WHERE v.library IS NULL) k
    ON k.run = h.run AND k.file = h.file AND k.line = h.line
  GROUP BY h.run, h.file, h.line) x
WHERE NOT is_maybe AND (new_calls > 0 OR (
  SELECT 2 * total(w.watches) >= t.high_traps FROM x_threshold t JOIN process p JOIN watch w ON w.process = p.id
  WHERE p.run = x.run AND w.outcome IN (PIE_WATCH_REDUNDANT, PIE_WATCH_CHANGED)));
