# SPDX-License-Identifier: Apache-2.0
"""A profile as large as one of a day: many files, and a million contexts with ten samples each. Made by SQL from a
small one, whose first process gets all rows.

enlarge() makes more lines than contexts, in a flat tree. proportioned() makes what a program leaves: a line for each
three contexts, paths of three times the natural logarithm of their number (33 frames at 60 000 contexts), and packed
samples."""

import contextlib
import itertools
import sqlite3

import packed

FILES, FUNCTIONS, CONTEXTS, SLICES = 5000, 10, 1_000_000, 64
FLAT = "(i - 1) / 3"
DEEP = "i / 2 + i * 7919 % max(i - i / 2, 1)"  # of the newer half of the contexts before it

STATEMENTS = """
CREATE TEMP TABLE n (i INTEGER PRIMARY KEY);
WITH RECURSIVE c (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c WHERE i < max({contexts}, {places}) - 1) INSERT INTO n SELECT i FROM c;
INSERT INTO file (process, id, path, is_own, library)
    SELECT 1, {first} + i, printf('/srv/app/package%d/module%d.py', i / 100, i), i % 10 > 0, iif(i % 10 > 0, NULL, 'Big-Lib')
    FROM n WHERE i < {files};
INSERT INTO function (process, id, kind, name, file, first_line)
    SELECT 1, {first} + i, 1, printf('Class%d.method%d', i / 7, i), {first} + i / {functions}, 1 + 20 * (i % {functions})
    FROM n WHERE i < {files} * {functions};
INSERT INTO location (process, id, function, line)
    SELECT 1, {first} + i, {first} + i / 4, 1 + 20 * (i / 4 % {functions}) + i % 4 FROM n WHERE i < {files} * {functions} * 4;
INSERT INTO node (process, id, parent, location, line_location, own_location)
    SELECT 1, {first} + i, iif(i > 0, {first} + {parent}, NULL), l, l, iif(i * 7919 % {places} / 40 % 10 > 0, l, NULL)
    FROM (SELECT i, {first} + i * 7919 % {places} AS l FROM n WHERE i < {contexts});
INSERT INTO sample (process, slice_s, node, thread, samples, wait_samples, python_ns, native_ns, system_ns, wait_ns, cpu_sq_ns2)
    SELECT 1, i % {slices}, {first} + i, 1, 10, 0, 6000000 + i % 1000, 3000000, 1000000, iif(i % 50 = 0, 5000000, 0), 1e13 FROM n WHERE i < {contexts};
INSERT INTO allocated (process, slice_s, node, samples, python_bytes, native_bytes, sq_bytes2)
    SELECT 1, i % {slices}, {first} + i, 1, 100000, i, 1e10 FROM n WHERE i % 20 = 0 AND i < {contexts};
INSERT INTO source (id, run, path) SELECT {first} + i, 1, printf('/srv/app/package%d/module%d.py', i / 100, i) FROM n WHERE i < {files};
INSERT INTO source_line (source, line, text)
    SELECT {first} + i / 40, 1 + i % 40, printf('    total_%d += compute(total_%d, "<%d>")', i, i + 1, i) FROM n WHERE i < {files} * 40;
UPDATE process SET slice_width_s = 1, ended_ns = started_ns + {slices} * 1000000000, seen_ns = started_ns + {slices} * 1000000000 WHERE id = 1;
"""


def enlarge(db, files=FILES, contexts=CONTEXTS, parent=FLAT):
    """Adds the rows to a profile, and returns the CPU time of all that was added, in ns."""
    with contextlib.closing(sqlite3.connect(db)) as file:
        file.execute("PRAGMA synchronous = OFF")
        first = 1 + max(file.execute(f"SELECT coalesce(max(id), 0) FROM {table}").fetchone()[0]
                        for table in ("file", "function", "location", "node", "source"))
        file.executescript("BEGIN;" + STATEMENTS.format(files=files, functions=FUNCTIONS, contexts=contexts, slices=SLICES,
                                                        first=first, places=files * FUNCTIONS * 4, parent=parent) + "COMMIT;")
        added, = file.execute("SELECT sum(python_ns + native_ns + system_ns) FROM sample WHERE node >= ?", (first,)).fetchone()
        return added


def proportioned(db, contexts):
    """As enlarge()."""
    added = enlarge(db, min(FILES, 1 + contexts // (3 * FUNCTIONS * 4)), contexts, DEEP)
    with contextlib.closing(sqlite3.connect(db)) as file:
        file.execute("PRAGMA synchronous = OFF")
        file.row_factory = sqlite3.Row
        rows = file.execute("SELECT * FROM sample WHERE process = 1 AND slice_s < ? AND slice_s NOT IN "
                            "(SELECT slice_s FROM packed WHERE process = 1 AND kind = 1) ORDER BY slice_s, "
                            "thread / 4, node / 16384, thread, node", (SLICES - 1,)).fetchall()
        blocks = itertools.groupby(rows, lambda row: (row["slice_s"], packed.block_of(row["thread"], row["node"])))
        for (slice_s, block), members in blocks:
            file.execute("INSERT INTO packed (process, slice_s, kind, block, rows) VALUES (1, ?, 1, ?, ?)",
                         (slice_s, block, packed.pack_samples(members)))
            file.execute("DELETE FROM sample WHERE process = 1 AND slice_s = ?", (slice_s,))
        file.commit()
        file.execute("VACUUM")
    return added
