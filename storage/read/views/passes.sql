-- SPDX-License-Identifier: Apache-2.0
-- Lines that read the same unchanged array in full again and again: whole re-reads. Such work has to read its data, but
-- one pass may do for all. Above the views of time.sql, below findings.sql.
--
-- The watches are loads in loops over the data of the only array that a call got (PIE_WATCH_OF_ARGUMENT), of which the
-- next access was made by the same line, in another call, and found the same value. A second array among the arguments,
-- as in x @ w, may be new in each round and ask for another pass, so such calls are not watched for this. Nor are those
-- that make another array of all values, as x * 2.

-- All figures to tune are here.
CREATE VIEW x_pass_threshold AS SELECT
  6 AS watches,            -- a line is named if this number of words were seen to be read again, unchanged,
  0.5 AS again_part,       -- and this part at least of those whose fate is known,
  0.5 AS long_part,        -- this part of them in the middle of calls that went on for 15 us: a search reads little,
  256 AS bytes_per_ns,     -- and no call reads faster than this, from a cache: else it reads a part only (Zen 5: 66),
  100 AS passes,           -- in this number of passes at least
  65536 AS array_bytes,    -- over this much data,
  0.1 AS run_share;        -- and if they take this part of the run

-- By line of own code and by what it called. round_ns: CPU time from one read of a word to the next one.
CREATE VIEW x_passing_place AS
SELECT x.run, x.process, x.place, x.line_location, x.entry_function, x.again, x.known, x.again_ns,
  x.all_round_ns * 1.0 / x.again AS round_ns, x.all_array_bytes * 1.0 / x.again AS array_bytes
FROM (
  SELECT run, process, place, line_location, entry_function, sum(watches) AS known, sum(is_again * watches) AS again,
    sum(is_again * weight_ns) AS again_ns, sum(is_again * round_ns) AS all_round_ns,
    sum(is_again * length_ns) AS all_rest_ns, sum(is_again * array_bytes) AS all_array_bytes,
    sum(iif(length > 0, is_again * watches, 0)) AS long_again
  FROM (
    SELECT p.run, w.process, n.own_location AS place, n.line_location, n.entry_function, w.watches, w.weight_ns,
      w.round_ns, w.length_ns, w.array_bytes, w.length,
      coalesce(w.outcome = PIE_WATCH_REDUNDANT AND m.own_location = n.own_location, 0) AS is_again
    FROM process p JOIN watch w ON w.process = p.id AND w.kind = PIE_WATCH_LOAD
      AND w.traits & PIE_WATCH_OF_ARGUMENT <> 0 AND w.outcome <> PIE_WATCH_LOST
    JOIN node n ON n.process = w.process AND n.id = w.first_node
    LEFT JOIN node m ON m.process = w.process AND m.id = w.second_node
    WHERE n.own_location IS NOT NULL)
  GROUP BY run, process, place, entry_function) x
JOIN x_pass_threshold t
WHERE x.again >= t.watches AND x.again >= t.again_part * x.known AND x.long_again >= t.long_part * x.again
  AND x.all_array_bytes >= t.array_bytes * x.again AND x.all_array_bytes <= t.bytes_per_ns * x.all_round_ns
  AND x.all_array_bytes <= 2 * t.bytes_per_ns * x.all_rest_ns;

-- With times. Few lines come so far, so each looks for itself, and a run without such lines costs nothing. As many
-- rounds as fit into the line's own time are certain: there are more where the loop has other lines too.
CREATE VIEW x_passing_line AS
SELECT run, file, line, function, function_line, native_function, native_library, advice_library, line_ns, run_ns,
  pass_ns, again, known, array_bytes, line_ns / round_ns AS passes
FROM (
  SELECT x.*, f.path AS file, l.line, u.name AS function, u.first_line AS function_line, ne.name AS native_function,
    me.name AS native_library, coalesce(nullif(fi.library, 'python'), me.name) AS advice_library, a.cpu_ns * 1.0 AS run_ns,
    x.again_ns / x.loads_ns * x.line_ns AS pass_ns,
    row_number() OVER (PARTITION BY x.run, f.path, l.line ORDER BY x.again_ns DESC, x.process) AS nth
  FROM (
    SELECT g.*, (
        SELECT sum(s.cpu_ns) * 1.0 FROM x_place_cost s
        WHERE s.run = g.run AND s.process = g.process AND s.kind = 1 AND s.own_location = g.place) AS line_ns, (
        SELECT sum(w.weight_ns) FROM watch w JOIN node n ON n.process = w.process AND n.id = w.first_node
        WHERE w.process = g.process AND w.kind = PIE_WATCH_LOAD AND n.own_location = g.place) AS loads_ns
    FROM x_passing_place g) x
  JOIN x_total a ON a.run = x.run
  JOIN place(l, u, f) AT (x.process, x.place)
  LEFT JOIN place(i, ui, fi) AT (x.process, x.line_location)
  LEFT JOIN function ne ON ne.process = x.process AND ne.id = x.entry_function
  LEFT JOIN x_module me ON me.process = ne.process AND me.id = ne.module)
WHERE nth = 1;

CREATE VIEW x_passing_finding AS
SELECT x.*, t.high_traps, t.high_low, t.high_part, t.high_share, t.z2, t.calls_high,
  printf('%.0f passes or more over the same %.3g %s, which did not change: %d of %d words that were read were read again, '
    || 'with the same value, by the line''s next calls; the passes take %.3g of the line''s %.3g s; if a round does not '
    || 'depend on the one before, one pass may do for all', iif(x.passes >= 1000, 100 * round(x.passes / 100), 10 * round(x.passes / 10)),
    x.array_bytes / iif(x.array_bytes >= 1e6, 1e6, 1e3), iif(x.array_bytes >= 1e6, 'MB', 'kB'), x.again, x.known,
    x.pass_ns / 1e9, x.line_ns / 1e9) AS evidence, (
    SELECT a.advice FROM x_advice a WHERE a.about = 'whole re-reads' AND coalesce(x.advice_library, '') GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1) AS advice
FROM x_passing_line x JOIN x_threshold t JOIN x_pass_threshold s
WHERE x.passes >= s.passes AND x.pass_ns >= s.run_share * x.run_ns;
