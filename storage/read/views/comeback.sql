-- SPDX-License-Identifier: Apache-2.0
-- Calls that come again too seldom for the next calls to show it: many that take turns. Above
-- watches.sql, below categories.sql.

-- All figures to tune are here.
CREATE VIEW x_comeback_threshold AS SELECT
  32 AS remembered,   -- calls of each place that the collection thread remembers (PIE_WATCH_SEEN_MAX),
  3 AS come_again,    -- this number of compared calls at least was among them, by the same arguments,
  2e4 AS length_ns,   -- they take this long with traps: a shorter call is made as fast as its result is looked up,
  0.5 AS back_low;    -- and this part of the line's calls at least comes again, as the lower end

-- By line of own code. Sampled calls are a draw from all of the line's calls. If these are of m kinds, a draw meets
-- one of r remembered ones with the probability r / m. So m is about pairs / again, where pairs is the sum of r over
-- the draws, as birthdays show how long a year is. All of the line's calls but the first of each kind come again. Their
-- number is the line's time divided by the length of a call, which traps make longer, so it is too small rather than
-- too large (x_finding). Of `again` the lower end of its interval counts (Poisson's distribution, by Wilson's method).
-- Only calls that the line itself makes count, and only in a loop: elsewhere the line may be what a function does
-- where its cache has nothing, and comes again because the cache is small. Equal values that may be a coincidence do
-- not count: random numbers come again, too.
CREATE VIEW x_coming_back AS
SELECT w.run, f.path AS file, l.line, t.remembered, t.back_low AS least, w.length_ns / w.compared AS length_ns,
  w.pairs / w.again AS kinds, w.pairs / (w.again + h.z2 / 2 - sqrt(h.z2 * w.again + h.z2 * h.z2 / 4)) AS most
FROM (
  SELECT w.run, w.process, w.place, w.compared, w.length_ns, w.again, w.changed,
    iif(w.compared > t.remembered, t.remembered * (w.compared - (t.remembered + 1) / 2.0),
      w.compared * (w.compared - 1) / 2.0) AS pairs
  FROM (
    SELECT run, process, place, 1.0 * sum(watches) AS compared, sum(length_ns) AS length_ns,
      1.0 * sum(iif(is_redundant AND is_seen_before AND equal_values > 1, watches, 0)) AS again,
      sum(iif(is_changed, watches, 0)) AS changed
    FROM x_watch
    WHERE is_own AND is_asked AND is_argued AND is_trap AND is_in_loop
      AND (traits & PIE_WATCH_OUTER_CALL <> 0 OR line_location = place)
    GROUP BY run, process, place) w JOIN x_comeback_threshold t) w
JOIN place(l, u, f) AT (w.process, w.place)
JOIN x_comeback_threshold t JOIN (SELECT z2 FROM x_threshold) h
WHERE w.again >= t.come_again AND w.length_ns >= t.length_ns * w.compared AND 2 * w.changed > w.compared;
