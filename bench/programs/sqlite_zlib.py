# SPDX-License-Identifier: Apache-2.0
"""Native libraries: SQLite in memory and zlib."""

import sqlite3
import zlib

from harness import run


def work(repeats):
    db = sqlite3.connect(":memory:")
    db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, name TEXT, packed BLOB)")
    for i in range(repeats):
        text = b"".join(b"%d lines of text, " % (n ^ i) for n in range(400))
        rows = [(None, f"row {i}", zlib.compress(text, 6)) for _ in range(10)]
        db.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        (count,) = db.execute("SELECT count(*) FROM t WHERE name LIKE '%7%' AND length(packed) > 100").fetchone()
        if count > 1000:
            db.execute("DELETE FROM t")
    return zlib.crc32(text), count


# From here on malloc() keeps as much. Else each compression gives 256 kB back to the kernel, or does not, as chance and
# what was imported before have it, which is half of the time.
bytes(8 << 20)
run(work, 6600)
