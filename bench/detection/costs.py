#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What profiling cost in the profiles that run.py has kept, and how many watches it bought.

usage: costs.py FOLDER...      (FOLDER: that of run.py's --keep; of several, the programs that are in all of them)

Prints a table in Markdown: medians over the programs, one column for each folder. Shares are of the CPU time of the
program's threads.
"""
import contextlib
import pathlib
import sqlite3
import statistics
import sys

COLLECTORS = ("time", "caches", "redundancy", "collection thread", "memory")
ROWS = ("samples in 1 s", "watches in 1 s", "samples that found the budget spent", *COLLECTORS, "all overhead")


def costs(path):
    """The figures of one profile by name; shares in percent."""
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as file:
        counters = dict(file.execute("SELECT name, sum(value) FROM counter GROUP BY name"))
        spent_s = dict(file.execute("SELECT collector, sum(cpu_ns) / 1e9 FROM overhead GROUP BY collector"))
        (cpu_s,) = file.execute("SELECT sum(cpu_ns) / 1e9 FROM thread").fetchone()
    shares = {name: 100 * spent_s.get(name, 0) / cpu_s for name in COLLECTORS}
    return {"samples in 1 s": counters["samples"] / cpu_s, "watches in 1 s": counters.get("watches", 0) / cpu_s,
            "samples that found the budget spent": 100 * counters.get("watch_over_budget", 0) / counters["samples"], **shares,
            "all overhead": 100 * sum(spent_s.values()) / cpu_s}


def main(folders):
    if not folders:
        sys.exit("usage: costs.py FOLDER...")
    found = [{path.name: costs(path) for path in pathlib.Path(folder).glob("*.db")} for folder in folders]
    names = set.intersection(*map(set, found))
    if not names:
        sys.exit(f"costs.py: no program has a profile in each of {', '.join(folders)}")
    print(f"| {len(names)} programs, median |" + " |".join(f" {pathlib.Path(folder).name}" for folder in folders) + " |")
    print("|---" * (len(folders) + 1) + "|")
    for row in ROWS:
        unit = "" if row.endswith("1 s") else " %"
        print(f"| {row} | " + " | ".join(f"{statistics.median(of[name][row] for name in names):.3g}{unit}" for of in found) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
