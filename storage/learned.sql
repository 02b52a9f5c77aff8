-- SPDX-License-Identifier: Apache-2.0
-- Loops whose calls are learned (Paikana 3): what of a loop's time each call takes, and how sure that is. Part of the
-- schema, after memory.sql. Rows are replaced as more is known. Durations of calls are far below a microsecond at
-- times, and their variance is a square: they are seconds, as floating-point numbers.

CREATE TABLE learned_loop (
  process INTEGER NOT NULL REFERENCES process,
  id INTEGER NOT NULL,
  file TEXT,                       -- as Python says it
  line INTEGER,                    -- of the loop, or the first of the function whose calls are its iterations
  function TEXT,                   -- qualified name of the code that the loop is in
  policy TEXT,                     -- by which it is chosen what is observed: "racing", "successive rejects", …
  confidence REAL,                 -- of decisions and intervals: 0.95
  entries INTEGER NOT NULL,        -- times the loop was entered
  iterations INTEGER NOT NULL,
  observed_iterations INTEGER NOT NULL,
  body_s REAL,                     -- wall time in the body, all iterations
  note TEXT,                       -- what could not be seen and why
  PRIMARY KEY (process, id)
) WITHOUT ROWID;

CREATE TABLE learned_call (
  process INTEGER NOT NULL REFERENCES process,
  loop INTEGER NOT NULL,           -- learned_loop (process, id)
  call INTEGER NOT NULL,           -- call site in the body; 0: the body's own code
  file TEXT,                       -- of the call site
  line INTEGER,
  callee TEXT,                     -- qualified name, "module.name" of a native function; NULL for the body's own code
  is_native INTEGER NOT NULL,      -- 0 or 1
  state INTEGER NOT NULL,          -- 1: undecided, 2: dropped, surely less than every other that was left, 3: kept
  decided_after INTEGER,           -- observed iterations until it was decided; NULL: it is not
  calls INTEGER NOT NULL,          -- in all iterations, estimated unless all were observed
  observed_calls INTEGER NOT NULL, -- that were timed
  share REAL,                      -- of the loop's body_s; those of a loop add up to 1
  share_low REAL,                  -- its interval, at the loop's confidence
  share_high REAL,
  mean_s REAL,                     -- of one call; NULL, as all below: none was timed
  variance_s2 REAL,                -- of one call; NULL: less than two were timed
  p50_s REAL,                      -- quantiles of one call, within 5 %
  p95_s REAL,
  p99_s REAL,
  PRIMARY KEY (process, loop, call)
) WITHOUT ROWID;

-- A loop is decided when each call that was made is; of the body's own code, which remains, nothing is.
CREATE VIEW v_learned_loop AS
SELECT p.run, row_number() OVER (PARTITION BY p.run ORDER BY l.body_s DESC, l.process, l.id) AS rank, l.file, l.line,
  l.function, l.iterations, l.observed_iterations, l.entries, l.body_s,
  (SELECT iif(sum(c.state = 1 AND c.calls > 0) > 0, NULL, max(c.decided_after)) FROM learned_call c
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
  CASE iif(c.call = 0, 0, c.state) WHEN 1 THEN 'undecided' WHEN 2 THEN 'dropped' WHEN 3 THEN 'kept' END AS state,
  iif(c.call = 0, 'body', iif(c.is_native, 'native', 'python')) AS kind, c.share * l.body_s AS total_s,
  c.variance_s2, iif(c.call = 0, NULL, c.observed_calls) AS observed_calls, l.file AS loop_file, l.line AS loop_line,
  l.function AS loop_function, l.iterations, l.observed_iterations, l.body_s, l.policy, l.confidence, l.note, l.process, p.pid, l.id AS loop
FROM process p JOIN learned_loop l ON l.process = p.id
JOIN learned_call c ON c.process = l.process AND c.loop = l.id;
