-- SPDX-License-Identifier: Apache-2.0
-- What a second run counted (pieprof confirm): what it says about the findings of the run. Above the views of
-- findings.sql, whose x_told_finding these take up.

-- All figures to tune are here.
CREATE VIEW x_confirm_threshold AS SELECT
  0.5 AS confirmed_share,  -- confirmed: this part of the counted time at least is what the category says
  0.05 AS refuted_share,   -- refuted: this part of it at most; a callee with less is not what its line is about
  0.95 AS compared_share,  -- … where this part of the calls at least was compared by value
  1000 AS singles_min,     -- one element or number at a time: this often at least
  1000000 AS whole_ns,     -- a call that takes this long does not work on one element
  256 AS kept_max,         -- results that take little memory to keep: more of them make no finding high
  2 AS again_min,          -- computed again: this often at least
  1.15 AS rest_faster;     -- without the work of a function the rest may run faster, too: more of its data is in the
                           -- caches. Of 50 programs of bench/detection/programs, fixes saved up to 1.14 of its time

-- A line: sums of its callees.
CREATE VIEW x_counted AS
SELECT p.run, c.file, c.line, sum(c.callee <> '') AS callees,
  min(c.is_whole AND NOT c.has_more) AS is_whole, sum(c.calls) AS calls,
  sum(c.calls - c.raised) AS returned, sum(iif(c.is_item, 0, c.calls - c.raised)) AS compared_of,
  sum(iif(c.is_item, 0, c.compared)) AS compared, sum(c.again) AS again, sum(c.alike) AS alike,
  sum(c.singles) AS singles, 1.0 * sum(c.call_ns) AS call_ns, sum(c.again_ns) AS again_ns,
  min(sum(c.alike_ns), sum(c.call_ns) - sum(c.again_ns)) AS alike_ns, -- calls that are alike, in one that comes again
  sum(c.single_ns) AS single_ns, max(c.run_ns) AS run_ns,
  coalesce(sum(c.bulk_ns), 0) AS bulk_ns,
  max(coalesce(c.grew, 0) >= 0.9 * c.calls AND c.calls > 10 AND NOT c.is_item) AS has_grown,
  max(iif(c.again, c.distinct_args, 0)) AS kept_args
FROM counted c JOIN process p ON p.id = c.process
GROUP BY p.run, c.file, c.line;

-- The functions that have a counted line. Where it handles one element at a time, but no loop of its function does, the
-- loop is a caller's, and a fix may take all of it away. Older files do not say what is in a loop.
CREATE VIEW x_counted_function AS
SELECT c.run, c.file, c.line, l.process, l.function, u.name, coalesce(NOT c.is_single OR max(l.is_in_loop), 1) AS is_in_loop
FROM (
  SELECT p.run, c.file, c.line, sum(c.single_ns) - sum(c.again_ns) >= confirmed_share * sum(c.call_ns) AS is_single
  FROM counted c JOIN process p ON p.id = c.process JOIN x_confirm_threshold GROUP BY p.run, c.file, c.line) c
JOIN process q ON q.run = c.run
JOIN file f ON f.process = q.id AND f.path = c.file
JOIN function u ON u.process = f.process AND u.file = f.id AND u.kind = PIE_LOCATION_PYTHON
JOIN location l ON l.process = u.process AND l.function = u.id AND l.line = c.line
GROUP BY c.run, c.file, c.line, l.process, l.function;

-- The functions within which a fix is made: these, the own functions that reach them through a library, which calls a
-- function back (df.apply(f)): a fix may take the library's call away. And those with such a loop. found: 0, the loop
-- is a caller's; 1, it is here; 2, a library's call was left out, and no other one is: asyncio.run() calls whole
-- programs.
CREATE VIEW x_counted_within AS
WITH RECURSIVE above(run, file, line, process, function, name, found, is_caller) AS (
  SELECT run, file, line, process, function, name, is_in_loop, 0 FROM x_counted_function
  UNION
  SELECT a.run, a.file, a.line, o.process, o.function, u.name, iif(p.location <> p.own_location, 2, coalesce(o.is_in_loop, 1)), 1
  FROM above a
  JOIN location l ON l.process = a.process AND l.function = a.function
  JOIN node n ON n.process = l.process AND n.location = l.id AND n.line_location = n.own_location
  JOIN node p ON p.process = n.process AND p.id = n.parent AND (p.location <> p.own_location OR a.found = 0)
  JOIN location o ON o.process = p.process AND o.id = p.own_location
  JOIN function u ON u.process = o.process AND u.id = o.function
  WHERE a.found < 2)
SELECT run, file, line, process, function, name, is_caller FROM above WHERE NOT is_caller OR found OR name = '<module>';

-- The samples' nodes in which such a function is at work, itself or by what it called: from each up to its root.
CREATE VIEW x_counted_node AS
WITH RECURSIVE above(process, node, cpu_ns, sq_ns2, location, parent) AS (
  SELECT s.process, s.node, s.cpu_ns, s.sq_ns2, n.location, n.parent
  FROM (
    SELECT process, node, sum(cpu_ns) AS cpu_ns, sum(cpu_sq_ns2) AS sq_ns2 FROM x_sample
    WHERE run IN (SELECT p.run FROM counted c JOIN process p ON p.id = c.process) GROUP BY process, node) s
  JOIN node n ON n.process = s.process AND n.id = s.node
  UNION ALL
  SELECT a.process, a.node, a.cpu_ns, a.sq_ns2, n.location, n.parent
  FROM above a JOIN node n ON n.process = a.process AND n.id = a.parent)
SELECT c.run, c.file, c.line, a.process, a.node, max(a.cpu_ns) AS cpu_ns, max(a.sq_ns2) AS sq_ns2,
  min(iif(c.is_caller, c.name, NULL)) AS caller, min(c.name) AS name
FROM above a JOIN location l ON l.process = a.process AND l.id = a.location
JOIN x_counted_within c ON c.process = l.process AND c.function = l.function
GROUP BY c.run, c.file, c.line, a.process, a.node;

-- No fix within a function gains more than the function takes with all that it calls, but for the rest of the program,
-- which may run faster without it. By line; with the upper end of the samples' interval.
CREATE VIEW x_counted_bound AS
SELECT run, file, line, coalesce(min(caller), min(name)) AS within, (SELECT rest_faster FROM x_confirm_threshold)
  * (sum(cpu_ns) + sqrt((SELECT z2 FROM x_threshold) * sum(sq_ns2))) AS within_ns
FROM x_counted_node
GROUP BY run, file, line;

-- Callees, with words, by what they tell of each question: what was computed again, what took one element at a time.
-- An access of little time beside long calls leads nothing: `table[i, j] = pmf(i)` is about pmf().
-- Objects that are known by their place are no values: one may lie where another one was, so their number says nothing.
CREATE VIEW x_counted_callee AS
SELECT run, file, line, callee, call_ns, again_nth, single_nth,
  iif(length(callee) > 80, substr(callee, 1, 79) || '…', callee) || CASE
    WHEN is_item THEN printf(': %s times, %.3g s', replace(printf('%,d', calls), ',', ' '), call_ns / 1e9)
    ELSE printf(': %s call%s, ', replace(printf('%,d', calls), ',', ' '), iif(calls = 1, '', 's')) || CASE
        WHEN compared >= calls - raised THEN printf('%s%s distinct argument%s', iif(has_more, 'at least ', ''),
          replace(printf('%,d', distinct_args), ',', ' '), iif(distinct_args = 1, '', 's'))
        WHEN compared = 0 THEN 'arguments known only as objects'
        ELSE printf('arguments of %.0f %% known only as objects', max(1, 100 - 100.0 * compared / (calls - raised))) END
      || printf(', %.3g of %.3g s computed again', again_ns / 1e9, max(call_ns, again_ns) / 1e9)
      || iif(alike_ns > 0, printf(', %.3g s perhaps', alike_ns / 1e9), '')
      || iif(grew >= 0.9 * calls AND calls > 10 AND arg_bytes >= 1e6, printf(
        ', %s with larger arguments than the call before, %.3g MB in all',
        replace(printf('%,d', grew), ',', ' '), arg_bytes / 1e6), '') END AS words
FROM (
  SELECT p.run, c.*, row_number() OVER (PARTITION BY p.run, c.file, c.line
      ORDER BY iif(c.again_ns > refuted_share * c.line_ns, c.again_ns, 0) DESC, c.call_ns DESC, c.calls DESC, c.callee) AS again_nth,
    row_number() OVER (PARTITION BY p.run, c.file, c.line
      ORDER BY c.is_item AND c.call_ns > refuted_share * c.line_ns DESC, c.single_ns > refuted_share * c.line_ns DESC,
        iif(c.single_ns > refuted_share * c.line_ns, c.single_ns, c.call_ns) DESC, c.calls DESC, c.callee) AS single_nth
  FROM (SELECT *, sum(call_ns) OVER (PARTITION BY process, file, line) AS line_ns FROM counted) c
  JOIN process p ON p.id = c.process JOIN x_confirm_threshold
  WHERE c.callee <> '');

-- A line with the words about its first callee, for each question.
CREATE VIEW x_counted_line AS
SELECT x.*, a.words || rest AS again_facts, s.words || rest AS single_facts, b.within, b.within_ns
FROM (
  SELECT x.*, iif(callees > 1, printf('; %d other callee%s, %.3g s with it', callees - 1, iif(callees = 2, '', 's'),
    call_ns / 1e9), '') AS rest
  FROM x_counted x) x
LEFT JOIN x_counted_callee a ON a.run = x.run AND a.file = x.file AND a.line = x.line AND a.again_nth = 1
LEFT JOIN x_counted_callee s ON s.run = x.run AND s.file = x.file AND s.line = x.line AND s.single_nth = 1
LEFT JOIN x_counted_bound b ON b.run = x.run AND b.file = x.file AND b.line = x.line;

-- Findings with the verdict. The line that was counted is the user's own, where the finding is a library's. What was
-- done again is waste whatever the category says; that there is none refutes only what says so. Calls that take more
-- than single numbers (a row, a pixel, a place) may still be made for all at once. So only operators on whole arrays
-- refute that elements are taken singly, or that calls could be fewer; else long calls refute the first, one call
-- both. This is the verdict on what one finding says; that of its line is one of them (x_line_finding).
CREATE VIEW x_judged_finding AS
SELECT DISTINCT *, CASE
    WHEN facts IS NULL THEN NULL
    WHEN calls = 0 THEN 'undecided'
    WHEN again >= again_min AND counted_again_ns >= confirmed_share * counted_ns THEN 'confirmed'
    WHEN is_about_singles AND singles >= singles_min AND single_ns >= confirmed_share * counted_ns THEN 'confirmed'
    WHEN basis = PIE_BASIS_COPIES AND has_grown THEN 'confirmed'
    WHEN NOT is_whole THEN 'undecided'
    WHEN is_about_singles AND (singles < singles_min OR single_ns <= refuted_share * counted_ns)
      AND (calls = 1 OR bulk_ns >= confirmed_share * counted_ns
        OR NOT is_about_calls AND counted_ns >= whole_ns * calls)
      THEN 'refuted'
    WHEN is_about_again AND counted_again_ns + alike_ns <= refuted_share * counted_ns
      AND compared >= compared_share * compared_of THEN 'refuted'
    ELSE 'undecided' END AS found_verdict,
  iif(is_about_singles, max(counted_again_ns, single_ns), counted_again_ns + alike_ns) AS gain_ns,
  iif(is_about_singles, max(counted_again_ns, single_ns), counted_again_ns + alike_ns) / nullif(counted_ns, 0) AS gain_share
FROM (
  SELECT DISTINCT f.*, t.*, coalesce(f.user_file, f.file) AS verdict_file,
    iif(f.user_file IS NULL, f.line, f.user_line) AS verdict_line,
    substr(f.file, -255) AS file_end, CASE
      WHEN c.calls IS NULL OR f.is_reuse THEN NULL
      WHEN c.callees = 0 THEN 'no call, element access or operator on objects was met there'
      WHEN f.category IN ('slice underutilization', 'API misuse') THEN c.single_facts
      ELSE c.again_facts END AS facts, c.is_whole, c.calls, c.compared, c.compared_of, c.again, c.alike, c.singles,
    c.call_ns AS counted_ns, c.again_ns AS counted_again_ns, c.alike_ns, c.single_ns, c.within, c.within_ns,
    f.category IN ('slice underutilization', 'API misuse') AS is_about_singles,
    f.category = 'API misuse' AS is_about_calls,
    c.kept_args, c.bulk_ns, c.has_grown,
    f.category IN ('loop-invariant computation', 'repeated native calls') AS is_about_again
  FROM x_windowed_finding f JOIN x_confirm_threshold t
  LEFT JOIN x_counted_line c ON c.run = f.run AND c.file = iif(f.library IS NULL, f.file, coalesce(f.user_file, f.file))
    AND c.line = iif(f.library IS NULL, f.line, coalesce(f.user_line, f.line)));

-- What is proven and worth it leads, what is refuted is never high. A cache that keeps its size may have to compute
-- a few hundred results again and again, so a proof of that leaves the severity as the samples have it. A fix saves
-- the calls and what leads to them, so about their part, by time, of the line. Where one call takes the place of
-- many, the loop goes too. A fix may also remove what is around the line, so only the time of its function bounds
-- what it gains, and that only where a part of the run is not in it. A library's line has the verdict of the line
-- that led to it, but not its weight.
CREATE VIEW x_proven_finding AS
SELECT DISTINCT *, CASE
    WHEN found_verdict IS 'confirmed' AND library IS NULL AND found_gain_ns >= high_share * run_ns
      AND (is_about_singles OR kept_args <= kept_max) THEN 'high'
    WHEN found_verdict IS 'refuted' AND severity = 'high' THEN 'low'
    ELSE severity END AS proven_severity,
  facts || CASE
    WHEN found_verdict <> 'undecided' OR calls = 0 THEN ''
    WHEN NOT is_whole THEN '; not all was counted'
    WHEN NOT is_about_again AND NOT is_about_singles THEN '; counting calls cannot confirm this category'
    WHEN is_about_again AND compared < compared_share * compared_of
      THEN printf('; %.0f %% of the calls could not be compared by value', 100 - 100.0 * compared / compared_of)
    WHEN is_about_singles AND (singles < singles_min OR single_ns <= refuted_share * counted_ns)
      THEN '; these take or give more than one number: whether one call could do for many is not counted'
    ELSE '; too much to refute, too little to confirm' END AS found_proof
FROM (SELECT DISTINCT *, iif(facts IS NOT NULL AND within_ns < run_ns AND within <> '<module>',
    max(within_ns, found_gain_ns), NULL) AS found_most_ns
  FROM (SELECT DISTINCT *, iif(facts IS NULL, NULL, min(run_ns,
      max(gain_ns, coalesce(gain_share, 0) * iif(is_about_singles, calls_high, 1) * line_ns))) AS found_gain_ns
    FROM x_judged_finding));

-- A line of own code has one verdict: its own finding of most weight that is high, or else, where only library code
-- below it is, that. Or what a library computes again, for as much of the run as a list that is worth keeping as an
-- array (kept_share). A call that need not be made at all comes before one that could be made for many. The line's
-- finding of the other kind, and those of the library lines that it led to, are evidence. Where none is high, the one
-- that a second run proved or that names a cause is it. What was undecided, and was counted to be done again, is
-- decided. What the second run counted was counted once, so it stands at the verdict alone. nth: among the findings of
-- an own line. has_below: a call that was counted, with the line below it that does the work as the second
-- line. is_evidence: for another one that is high. Of the library's texts the first is the greatest by the
-- figures that precede it.
CREATE VIEW x_line_finding AS
SELECT DISTINCT *, iif(proven_severity = 'high' AND nth > 1, 'low', proven_severity) AS line_severity,
  iif(nth = 1, found_verdict, NULL) AS verdict, iif(nth = 1, found_proof, NULL) AS proof,
  iif(nth = 1, found_gain_ns, NULL) AS fix_gain_ns, iif(nth = 1, found_most_ns, NULL) AS most_ns, nth > 1 AND is_line_high AS is_evidence,
  iif(is_counted_again, 'repeated native calls', category) AS line_category,
  iif(is_counted_again, (SELECT a.advice FROM x_advice_again a WHERE a.about = 'repeated native calls'),
    advice) AS line_advice,
  evidence || CASE
    WHEN proven_severity <> 'high' THEN ''
    WHEN nth > 1 THEN printf('; evidence for the finding of %s', first_text)
    ELSE coalesce('; also ' || other_text, '') || coalesce('; it happens in ' || library_text, '') END AS line_evidence,
  iif(has_below, below_file, first_file) AS line_first_file, iif(has_below, below_line, first_line) AS line_first_line
FROM (
  SELECT DISTINCT *, max(nth = 1 AND proven_severity = 'high') OVER v AS is_line_high,
    nth = 1 AND found_verdict IS 'confirmed' AND category = 'undecided' AS is_counted_again,
    nth = 1 AND basis = PIE_BASIS_CALLS AS has_below, max(iif(nth = 2 AND library IS NULL AND user_file IS NOT NULL, file, NULL))
      OVER v AS below_file, max(iif(nth = 2 AND library IS NULL AND user_file IS NOT NULL, line, NULL)) OVER v AS below_line,
    max(iif(nth = 1, place_text || ', ' || kind_text, NULL)) OVER v AS first_text,
    max(iif(nth > 1 AND library IS NULL AND user_file IS NULL AND is_told,
      printf('%s: %s', kind_text, category) || iif(fraction IS NULL, '', printf(', %.0f %% redundant', 100 * fraction)),
      NULL)) OVER v AS other_text,
    substr(max(iif(nth > 1 AND library IS NOT NULL AND is_told, printf('%09d%s of %s: %s', 999999999 - nth, place_text,
      library, category), NULL)) OVER v, 10) AS library_text
  FROM (
    SELECT DISTINCT *, proven_severity <> 'reuse' AND category <> 'undecided' AS is_told,
      iif(kind = PIE_WATCH_LOAD, 'loads', 'stores') AS kind_text,
      printf('%s:%d', substr(replace(file_end, rtrim(file_end, replace(file_end, '/', '')), ''), -80), line)
        AS place_text,
      row_number() OVER (PARTITION BY run, verdict_file, verdict_line
        ORDER BY proven_severity <> 'high', proven_severity = 'reuse',
          basis NOT IN (PIE_BASIS_SAME_CALLS, PIE_BASIS_CALLS) OR user_file IS NOT NULL,
          library IS NOT NULL AND NOT (proven_severity = 'high' AND is_about_again
            AND again_ns >= (SELECT kept_share FROM x_one_threshold) * run_ns),
          found_verdict IS NOT 'confirmed', category = 'undecided', proven_severity = 'high' AND is_about_singles,
          proven_severity = 'high' AND NOT is_about_again, basis IN (PIE_BASIS_SAME_CALLS, PIE_BASIS_CALLS),
          rank) AS nth
    FROM x_proven_finding)
  WINDOW v AS (PARTITION BY run, verdict_file, verdict_line));

-- done_again: what is done again, for people. What calls returned is compared too, and a line that is judged by that
-- computes, whatever its finding is about. Where a quicker call is known, that
-- is all that is known (known.sql).
CREATE VIEW x_confirmed_finding AS
SELECT DISTINCT *, row_number() OVER (PARTITION BY run ORDER BY line_severity = 'reuse', line_severity = 'maybe',
    line_severity = 'low', verdict IS NOT 'confirmed', rank) AS proven_rank, iif(becomes_known, 'if a quicker call takes half the time', coalesce((SELECT b.done_again FROM x_basis b WHERE b.basis = f.basis),
    iif(kind = PIE_WATCH_LOAD AND category NOT IN ('repeated native calls', 'loop-invariant computation', 'inefficient algorithm'),
      'looked up again', 'computed again'))) AS done_again
FROM x_line_finding f;
