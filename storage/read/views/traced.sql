-- SPDX-License-Identifier: Apache-2.0
-- Traced loops (Paikana 3): what of a loop's time each call takes, and how sure that is. Rows are
-- replaced as more is known. Durations of calls are far below a microsecond at times, and their variance is a square:
-- they are seconds, as floating-point numbers.

-- A loop is decided when each call that was made is; of the body's own code, which remains, nothing is.
CREATE VIEW v_learned_loop AS
SELECT p.run, row_number() OVER (PARTITION BY p.run ORDER BY l.body_s DESC, l.process, l.id) AS rank, l.file, l.line,
  l.function, l.iterations, l.observed_iterations, l.entries, l.body_s,
  (SELECT iif(sum(c.state = PIE_TRACED_UNDECIDED AND c.calls > 0) > 0, NULL, max(c.decided_after)) FROM learned_call c
    WHERE c.process = l.process AND c.loop = l.id AND c.call > 0) AS decided_after,
  (SELECT count(*) FROM learned_call c WHERE c.process = l.process AND c.loop = l.id AND c.call > 0) AS call_sites,
  l.policy, l.confidence, l.note, l.process, p.pid, l.id AS loop
FROM process p JOIN learned_loop l ON l.process = p.id;

-- Loop by loop as above, and in each what takes most first.
CREATE VIEW v_learned AS
SELECT p.run,
  row_number() OVER (PARTITION BY p.run ORDER BY l.body_s DESC, l.process, l.id, c.share DESC, c.call) AS rank, c.file,
  c.line, iif(c.call = 0, '(the loop''s own code)', c.callee) AS function, c.share, c.share_low, c.share_high,
  iif(c.call = 0, NULL, c.calls) AS calls, c.mean_s, c.p50_s, c.p95_s, c.p99_s, c.decided_after,
  CASE iif(c.call = 0, NULL, c.state) WHEN PIE_TRACED_UNDECIDED THEN 'undecided' WHEN PIE_TRACED_DROPPED THEN 'dropped'
    WHEN PIE_TRACED_KEPT THEN 'kept' END AS state,
  iif(c.call = 0, 'body', iif(c.is_native, 'native', 'python')) AS kind, c.share * l.body_s AS total_s,
  c.variance_s2, iif(c.call = 0, NULL, c.observed_calls) AS observed_calls, l.file AS loop_file, l.line AS loop_line,
  l.function AS loop_function, l.iterations, l.observed_iterations, l.body_s, l.policy, l.confidence, l.note, l.process, p.pid, l.id AS loop
FROM process p JOIN learned_loop l ON l.process = p.id
JOIN learned_call c ON c.process = l.process AND c.loop = l.id;
