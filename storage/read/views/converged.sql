-- SPDX-License-Identifier: Apache-2.0
-- Calls that give the same from some time on: an iteration that has reached its fixed point, and goes on. Above
-- watches.sql, below arguments.sql.

-- All figures to tune are here.
CREATE VIEW x_converge_threshold AS SELECT
  3 AS changed,          -- an iteration converges: this number of compared calls gave something else at first,
  2 AS changed_before,   -- this number of them in slices before that of the last change,
  0.8 AS changed_part,   -- which is this part at least of those compared there: changes are found less often,
  8 AS same_after;       -- and in later slices this number gave the same, and none anything else

-- Compared calls by place, and what they say of the course of the run: after since_s seconds of the process all gave
-- the same (NULL: not so). That is the end of a slice, so the truth is up to a slice earlier. ns: the time that they
-- stand for; after_ns: in later slices.
CREATE VIEW x_asked_place AS
SELECT a.run, a.process, a.is_own, a.place, a.compared, a.same, a.come_again, a.first_seen, a.calls, a.long_same, a.changed, a.same_after, a.after_ns,
  a.ns, iif(p.slice_width_s > 0 AND a.changed >= t.changed AND a.changed_before >= t.changed_before
    AND a.changed_before >= t.changed_part * a.known_before AND a.same_after >= t.same_after, a.last_change_s + p.slice_width_s, NULL) AS since_s
FROM (
  SELECT run, process, is_own, place, sum(is_argued * is_trap * watches) AS compared,
    sum(is_argued * is_redundant * watches) AS same, sum(is_argued * is_redundant * is_seen_before * watches) AS come_again,
    max(1, sum(is_argued * is_first_seen * is_trap * watches)) AS first_seen,
    count(DISTINCT iif(is_argued AND is_trap, line_location, NULL)) AS calls,
    sum(is_sampled * is_redundant * watches) AS long_same, last_change_s,
    sum(is_changed * watches) AS changed, sum(iif(slice_s < last_change_s, is_trap * watches, 0)) AS known_before,
    sum(iif(slice_s < last_change_s, is_changed * watches, 0)) AS changed_before,
    sum(iif(slice_s > last_change_s, is_redundant * watches, 0)) AS same_after,
    sum(iif(slice_s > last_change_s, weight_ns, 0)) AS after_ns, sum(weight_ns) AS ns
  FROM (
    SELECT run, process, is_own, place, line_location, slice_s, watches, weight_ns, is_argued, is_trap, is_redundant,
      is_changed, is_first_seen, is_seen_before, is_sampled,
      max(iif(is_changed, slice_s, NULL)) OVER (PARTITION BY run, process, is_own, place) AS last_change_s
    FROM x_watch WHERE is_asked)
  GROUP BY run, process, is_own, place) a
JOIN process p ON p.id = a.process JOIN x_converge_threshold t;
