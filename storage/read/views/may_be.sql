-- SPDX-License-Identifier: Apache-2.0
-- Is there as much of what a kind of finding is made of as one finding needs? If not, there is none of the kind, and a
-- reader need not prepare its views (kept.c), which takes longer than to look here. What is here is a part of what they
-- ask for. Above the views that find something.

CREATE VIEW x_may_watch AS
SELECT DISTINCT p.run FROM process p JOIN watch w ON w.process = p.id;

-- Where neither was on, that nothing was seen at a line says nothing of it.
CREATE VIEW x_may_hot AS
SELECT DISTINCT run FROM process p
WHERE EXISTS (SELECT 1 FROM watch w WHERE w.process = p.id) OR EXISTS (SELECT 1 FROM windowed w WHERE w.process = p.id);

CREATE VIEW x_may_copy AS
SELECT run FROM (
  SELECT p.run, sum(a.rises) AS rises FROM process p JOIN allocation a ON a.process = p.id GROUP BY p.run)
WHERE rises >= (SELECT line_rises FROM x_growth_threshold)
UNION ALL
SELECT run FROM (
  SELECT p.run, sum(c.samples) AS samples FROM process p JOIN copy c ON c.process = p.id
  WHERE c.estimate & PIE_COPY_SHIFT <> 0 GROUP BY p.run)
WHERE samples >= (SELECT line_shifts FROM x_growth_threshold);

CREATE VIEW x_may_read AS
SELECT run, kind FROM (
  SELECT p.run, r.kind, sum(r.rises + iif(r.kind = PIE_READ_SEARCH, r.same, 0)) AS told
  FROM process p JOIN reading r ON r.process = p.id GROUP BY p.run, r.kind)
WHERE told >= (SELECT samples FROM x_reading_threshold) AND kind <= PIE_READ_SORT;

CREATE VIEW x_may_work AS
SELECT run, kind FROM (
  SELECT p.run, r.kind, sum(r.rises) AS told
  FROM process p JOIN reading r ON r.process = p.id GROUP BY p.run, r.kind)
WHERE told >= (SELECT min(samples, fold_samples) FROM x_work_threshold) AND kind > PIE_READ_SORT;

CREATE VIEW x_may_pass AS
SELECT run FROM (
  SELECT p.run, sum(w.watches) AS again FROM process p JOIN watch w ON w.process = p.id
  WHERE w.kind = PIE_WATCH_LOAD AND w.traits & PIE_WATCH_OF_ARGUMENT <> 0 AND w.outcome = PIE_WATCH_REDUNDANT
  GROUP BY p.run)
WHERE again >= (SELECT watches FROM x_pass_threshold);

CREATE VIEW x_may_return AS
SELECT DISTINCT p.run FROM process p JOIN watch w ON w.process = p.id
WHERE w.memory IN (PIE_WATCH_MEMORY_RETURNED, PIE_WATCH_MEMORY_CALL);

CREATE VIEW x_may_call AS
SELECT DISTINCT p.run FROM process p JOIN called c ON c.process = p.id;

CREATE VIEW x_may_go_through AS
SELECT DISTINCT p.run FROM process p JOIN passed w ON w.process = p.id;

CREATE VIEW x_may_element AS
SELECT DISTINCT p.run FROM process p JOIN x_element_process e ON e.process = p.id;
