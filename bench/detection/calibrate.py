#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How far is the saving of a fix from the figure of the finding, and how often is it inside the interval?

Takes files that run.py --json wrote, of profiles whose fixes were measured. Says for each kind of evidence what the fix
saved as a multiple of the waste in the profile: lowest, middle and highest, without a tenth at either end. Programs are
in two halves, by a hash of their names: factors of the intervals (storage/read/views/thresholds.sql) are chosen by half
A, and half B shows whether they hold. A program without a figure of waste has no interval, and is counted apart.
"""

import argparse
import collections
import hashlib
import json
import pathlib
import statistics

import judge
import tables

TAIL = 0.1


def half_of(name):
    return "A" if hashlib.sha256(name.encode()).digest()[-1] % 2 == 0 else "B"


def kind_of(finding):
    """What the figure rests on: each kind has factors of its own."""
    if finding["category"] == "undecided":
        return "undecided"
    if finding["category"] in ("slice underutilization", "API misuse"):
        return f"one call for all, {finding['severity']}"
    if finding["again"] not in ("computed again", "looked up again"):
        return "what grows, moves or is read again"
    if finding["traps"] is None or "that were counted" in finding["evidence"]:
        return "calls that were counted"
    if finding["category"] == "inefficient algorithm":
        return "memory that is partly the same"
    return f"calls that were compared, {finding['severity']}"


def measured(path):
    """(name, verdict as judge has it, part of the run that the fix saves) of each wasteful program with a fix."""
    for one in json.loads(pathlib.Path(path).read_text(encoding="utf-8")):
        if one["category"] and (one["whole_gain"] or 0.0) > 1.0:
            for verdict in one["verdicts"]:
                yield one["program"], verdict, judge.saved_share(one["whole_gain"])


def is_inside(verdict, saved):
    low, high = verdict["wasted_interval"]
    return low <= saved <= high


def ends(values):
    """The lowest and the highest, without TAIL of them at either end."""
    ordered = sorted(values)
    cut = int(TAIL * len(ordered))
    return ordered[cut], ordered[len(ordered) - 1 - cut]


def line(words, cases):
    halves = {name: [(v, saved) for program, v, saved in cases if half_of(program) == name] for name in "AB"}
    ratios = [saved / v["wasted_share"] for _, v, saved in cases if v["wasted_share"]]
    low, high = ends(ratios) if ratios else (None, None)
    inside = [tables.share(sum(is_inside(*case) for case in half), len(half)) for half in halves.values()]
    return tables.row([words, len(cases), tables.figure(statistics.median(ratios) if ratios else None),
                       f"{tables.figure(low)}–{tables.figure(high)}", *inside])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE", help="written by run.py --json")
    files = parser.parse_args().files
    cases = [case for path in files for case in measured(path)]
    told = [case for case in cases if case[1]["finding"] and case[1]["wasted_interval"][1] > 0.0]
    kinds = collections.defaultdict(list)
    for case in told:
        kinds[kind_of(case[1]["finding"])].append(case)
    print("\n".join(tables.head(["evidence", "verdicts", "saved / told", "eight in ten of these",
                                 "inside, half A", "inside, half B"])))
    for kind, those in sorted(kinds.items()):
        print(line(kind, those))
    print(line("all with a figure", told))
    print(line("all", cases))


if __name__ == "__main__":
    main()
