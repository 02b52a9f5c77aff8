-- SPDX-License-Identifier: Apache-2.0
-- Lines that copy all that was there with each call. Growth: to add a little (numpy.append, torch.cat, += on bytes, a
-- data frame that gets a row). Shifts: to take a little out or to put it in (list.pop(0), del items[0]). Above the
-- views of time.sql, below findings.sql.

-- All figures to tune are here. Of blocks of random sizes, half are larger than the one before.
CREATE VIEW x_growth_threshold AS SELECT
  3 AS size_rises,         -- a context's blocks of one size class grow: of the samples whose blocks differ from the one
  0.8 AS rising,           -- before, this number and this part at least are larger by less than an eighth,
  2 AS classes,            -- and it has blocks this number of size classes below, or the line some that grow (a class
  7 AS open_class,         -- has four times the size; one below the open class): what was large from the first is not
                           -- what calls added up
  20 AS line_rises,        -- a line grows: this number of its samples are larger in blocks that grow,
  0.6 AS rising_of_all,    -- which are this part of all samples of such blocks: what grows with each call is hardly
                           -- ever the same (0.8 and more in lines that do grow). Data that is a little larger in each
                           -- round of an outer loop is (0.3 and less),
  0.5 AS growing_share,    -- this part of what it allocates is such blocks,
  50 AS blocks,            -- there is this number of them,
  0.3 AS copied_share,     -- and this part of their bytes is copied: else a call only reads more
  20 AS line_shifts;       -- a line shifts: this number of its sampled copies are shifts (PIE_COPY_SHIFT)

-- By line of own code. The native function is that of the heaviest block: SQLite takes what is neither grouped nor
-- summed from the row where max() found its value.
CREATE VIEW x_growing_place AS
SELECT run, process, place, line_location, entry_function, max(growing_bytes) AS top_bytes,
  sum(growing_bytes) AS growing_bytes,
  sum(iif(growing_bytes > 0, blocks, 0)) AS blocks, sum(iif(growing_bytes > 0, rises, 0)) AS rises
FROM (
  SELECT p.run, a.process, n.own_location AS place, n.line_location, n.entry_function, a.blocks, a.rises, a.samples,
    a.allocated_python_bytes + a.allocated_native_bytes AS bytes,
    iif(a.rises >= t.size_rises AND a.rises >= t.rising * (a.rises + a.falls),
      a.allocated_python_bytes + a.allocated_native_bytes, 0) AS growing_bytes,
    iif(a.rises >= t.size_rises AND a.rises >= t.rising * (a.rises + a.falls), a.size, NULL) AS growing_size,
    a.rises >= t.size_rises AND a.rises >= t.rising * (a.rises + a.falls) AND EXISTS (
      SELECT 1 FROM allocation b WHERE b.process = a.process AND b.node = a.node
        AND b.size <= a.size - iif(a.size = t.open_class, 1, t.classes)) AS began_small,
    t.line_rises, t.rising_of_all, t.growing_share, t.blocks AS blocks_min, t.classes, t.open_class
  FROM process p JOIN allocation a ON a.process = p.id JOIN node n ON n.process = a.process AND n.id = a.node
  JOIN x_growth_threshold t)
WHERE place IS NOT NULL
GROUP BY run, process, place
HAVING sum(iif(growing_bytes > 0, rises, 0)) >= max(line_rises)
  AND sum(iif(growing_bytes > 0, rises, 0)) >= max(rising_of_all) * sum(iif(growing_bytes > 0, samples, 0))
  AND sum(growing_bytes) >= max(growing_share) * sum(bytes)
  AND sum(iif(growing_bytes > 0, blocks, 0)) >= max(blocks_min)
  AND (max(began_small) OR min(growing_size) <= max(growing_size) - iif(max(growing_size) = max(open_class), 1, max(classes)));

-- With the CPU time of the line and of its copies: what copies, what runs below that, and the kernel for fresh memory.
-- Few lines grow, so each looks for itself, and a run without such lines costs nothing.
CREATE VIEW x_growing_cost AS
SELECT g.*, (
    SELECT sum(c.bytes) FROM copy c JOIN node n ON n.process = c.process AND n.id = c.node
    WHERE c.process = g.process AND n.own_location = g.place) AS copied_bytes, (
    SELECT sum(s.cpu_ns) * 1.0 FROM x_place_cost s
    WHERE s.run = g.run AND s.process = g.process AND s.kind = 1 AND s.own_location = g.place) AS line_ns, (
    SELECT sum(s.system_ns + iif(n.process << 32 | n.id IN (SELECT c.process << 32 | c.node FROM copy c)
        OR n.process << 32 | n.parent IN (SELECT c.process << 32 | c.node FROM copy c), s.python_ns + s.native_ns, 0))
    FROM x_sample s CROSS JOIN node n ON n.process = s.process AND n.id = s.node
    WHERE s.run = g.run AND s.process = g.process AND n.own_location = g.place) AS copies_ns
FROM x_growing_place g;

CREATE VIEW x_shifting_node AS
SELECT process, node, bytes, samples, bytes * 1.0 / all_bytes AS part
FROM (
  SELECT process, node, sum(bytes) AS all_bytes, sum(iif(estimate & PIE_COPY_SHIFT, bytes, 0)) AS bytes,
    sum(iif(estimate & PIE_COPY_SHIFT, samples, 0)) AS samples
  FROM copy GROUP BY process, node)
WHERE bytes > 0;

-- The time of a shift is that of the C library's function, which the copying code calls. As above each line looks for
-- itself: the lines come first (CROSS JOIN), and each scans the samples once.
CREATE VIEW x_shifting_cost AS
SELECT g.run, g.process, g.place, g.line_location, g.entry_function, g.bytes, g.samples, sum(s.cpu_ns) * 1.0 AS line_ns,
  sum(iif(c.part IS NULL, NULL, s.cpu_ns * c.part * (
    SELECT w.name IS NULL FROM x_location_owner w WHERE w.process = n.process AND w.location = n.location))) AS copies_ns
FROM (
  SELECT p.run, c.process, n.own_location AS place, n.line_location, n.entry_function, max(c.bytes) AS top_bytes,
    sum(c.bytes) AS bytes, sum(c.samples) AS samples
  FROM process p JOIN x_shifting_node c ON c.process = p.id JOIN node n ON n.process = c.process AND n.id = c.node
  JOIN x_growth_threshold t
  WHERE n.own_location IS NOT NULL
  GROUP BY p.run, c.process, n.own_location
  HAVING sum(c.samples) >= max(t.line_shifts)) g
CROSS JOIN x_sample s ON s.run = g.run AND s.process = g.process
CROSS JOIN node n ON n.process = s.process AND n.id = s.node AND n.own_location = g.place
LEFT JOIN x_shifting_node c ON c.process = n.process AND c.node = n.parent
GROUP BY g.run, g.process, g.place;

-- Both, by line. A call that grows is no longer needed; one that shifts is still, but has nothing to move (saved_ns).
CREATE VIEW x_copying_line AS
SELECT run, about, file, line, function, function_line, native_function, native_library, advice_library,
  all_bytes AS bytes, all_blocks AS blocks, all_line_ns AS line_ns, all_copies_ns AS copies_ns,
  iif(about = 'shifts', all_copies_ns, all_line_ns) AS saved_ns
FROM (
  SELECT x.run, x.about, f.path AS file, l.line, u.name AS function, u.first_line AS function_line, ne.name AS native_function,
    me.name AS native_library, coalesce(nullif(fi.library, 'python'), me.name) AS advice_library,
    sum(x.bytes) OVER g AS all_bytes, sum(x.blocks) OVER g AS all_blocks,
    sum(x.line_ns) OVER g AS all_line_ns, sum(x.copies_ns) OVER g AS all_copies_ns,
    row_number() OVER (PARTITION BY x.run, x.about, f.path, l.line ORDER BY x.bytes DESC, x.process) AS nth
  FROM (
    SELECT g.run, 'growing copies' AS about, g.process, g.place, g.line_location, g.entry_function,
      g.growing_bytes AS bytes, g.blocks, g.line_ns, g.copies_ns
    FROM x_growing_cost g JOIN x_growth_threshold t WHERE g.copied_bytes >= t.copied_share * g.growing_bytes
    UNION ALL
    SELECT run, 'shifts', process, place, line_location, entry_function, bytes, NULL, line_ns, copies_ns
    FROM x_shifting_cost) x
  JOIN place(l, u, f) AT (x.process, x.place)
  LEFT JOIN place(i, ui, fi) AT (x.process, x.line_location)
  LEFT JOIN function ne ON ne.process = x.process AND ne.id = x.entry_function
  LEFT JOIN x_module me ON me.process = ne.process AND me.id = ne.module
  WINDOW g AS (PARTITION BY x.run, x.about, f.path, l.line))
WHERE nth = 1;

-- Lines that copy all that was there, each time, as findings. Those of little weight are left out.
CREATE VIEW x_copying_finding AS
SELECT x.*, a.cpu_ns AS run_ns, t.high_traps, t.high_low, t.high_part, t.high_share, t.z2, t.calls_low, t.calls_high,
  iif(x.about = 'shifts',
    printf('each call moves all items behind those that it adds or removes: %s in all, in %.3g of the line''s %.3g s',
      x.amount, x.copies_ns / 1e9, x.line_ns / 1e9),
    printf('each call copies all that was there and adds a little: %s in about %.0f copies, so twice the calls take '
      || 'four times as long; the copies and their fresh memory take %.3g of the line''s %.3g s', x.amount, x.blocks,
      x.copies_ns / 1e9, x.line_ns / 1e9)) AS evidence, (
    SELECT a.advice FROM x_advice a WHERE a.about = x.about AND coalesce(x.advice_library, '') GLOB a.library
    ORDER BY length(a.library) DESC LIMIT 1) AS advice
FROM (
  SELECT *, printf('%.3g %s', bytes / iif(bytes >= 1e9, 1e9, 1e6), iif(bytes >= 1e9, 'GB', 'MB')) AS amount
  FROM x_copying_line) x
JOIN x_threshold t JOIN x_total a ON a.run = x.run
WHERE x.copies_ns >= t.high_share * a.cpu_ns AND x.copies_ns >= t.high_low * x.line_ns;
