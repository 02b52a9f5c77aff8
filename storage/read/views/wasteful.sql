-- SPDX-License-Identifier: Apache-2.0
-- Lines whose waste is sure. What they waste together, statements/shared_waste.sql works out. Above findings.sql.

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
SELECT run, min(rank) AS rank, own_file AS file, own_line AS line, cpu_s, wasted_s, wasted_s_low, wasted_s_high
FROM x_high_finding WHERE wasted_s > 0 GROUP BY run, own_file, own_line;
