# SPDX-License-Identifier: Apache-2.0
"""Findings that are put into a profile by hand, so that no sampling decides what `pieprof confirm` counts."""

import contextlib
import sqlite3

SECOND = 10**9
FIRST_KEY = 900000
REPEATED, SLICES, UNDECIDED = "repeated native calls", "slice underutilization", "undecided"
# kind, memory, own_operation of watches that make a finding of a category: a call's results, a[i] in a loop
EVIDENCE = {REPEATED: (2, 4, 3), SLICES: (1, 1, 1 + 16), UNDECIDED: (1, 1, 0)}


def plant_line(file, line):
    """A second of samples at the line. Returns the number of its node."""
    key = FIRST_KEY + line
    file.execute("INSERT INTO function VALUES (1, ?, 1, 'planted', ?, 1, NULL)", [key, FIRST_KEY])
    file.execute("INSERT INTO location (process, id, function, line) VALUES (1, ?, ?, ?)", [key, key, line])
    file.execute("INSERT INTO node VALUES (1, ?, NULL, ?, ?, ?, NULL, NULL)", [key, key, key, key])
    file.execute("INSERT INTO sample VALUES (1, 0, ?, 1, 1000, 0, ?, 0, 0, 0, 0, 0, ?)", [key, SECOND, SECOND * 1e6])
    return key


def plant(db, program, findings):
    """Makes findings, {line: category, or several}, as if a second of each line's time were wasted."""
    with contextlib.closing(sqlite3.connect(db)) as file:
        file.execute("INSERT OR IGNORE INTO file VALUES (1, ?, ?, 1, NULL)", [FIRST_KEY, str(program)])
        for line, categories in findings.items():
            key = plant_line(file, line)
            for category in [categories] if isinstance(categories, str) else categories:
                kind, memory, operation = EVIDENCE[category]
                file.execute("INSERT INTO watch (process, slice_s, kind, outcome, memory, traits, length, first_node,"
                             " second_node, own_operation, inner_operation, watches, bytes, weight_ns, weight_sq_ns2, length_ns,"
                             " gap_ns) VALUES (1, 0, ?, 1, ?, 0, 0, ?, ?, ?, ?, 100, 800, ?, ?, 80000, 500000)",
                             [kind, memory, key, key, operation, operation, SECOND, SECOND * 1e7])
        file.commit()
