#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Are the figures of `pieprof confirm` facts? Each program's marked lines are counted twice, at the same scale and
seed: by `pieprof confirm`, and by a copy of the program (counted_copy.py). The copy's calls, operators and element
accesses at these lines go through functions in Python that compare values by pickle and bytes. Figures have to agree:

* the calls, those that raised an exception, and the accesses to elements, of all;
* distinct arguments, distinct results and calls that were made before, where confirm compared all by value (results
  that have no value count as none);
* elsewhere confirm may not say "computed again" of more calls than the copy does.

Prints a table in Markdown and the differences. Ends with 1 where there are any.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import shutil
import sqlite3
import sys
import tempfile

import catalogue
import planted
import runs

HERE = pathlib.Path(__file__).resolve().parent
Figures = collections.namedtuple("Figures", "calls raised arguments results again")
COUNTED = """SELECT line, callee, is_item, calls, raised, distinct_args, distinct_results, again,
    compared = calls - raised AND alike = 0 AS is_compared FROM counted WHERE callee <> '' AND file = ? ORDER BY line, callee"""
MADE_BY_PYTHON = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>")  # called by the interpreter, not by the source


class Row(collections.namedtuple("Row", "line name kind figures is_compared")):
    """Of one callee at one line."""

    def agrees(self, other):
        """Of confirm's row, with one of the copy's."""
        if (self.line, self.kind, *self.figures[:2]) != (other.line, other.kind, *other.figures[:2]):
            return False
        if self.kind == "item":
            return True
        if not self.is_compared:
            return self.figures.again <= other.figures.again
        has_results = self.figures.results > 0 or self.figures.calls == self.figures.raised  # that have values
        return self.figures == (other.figures if has_results else other.figures._replace(results=0))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parents[1] / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--scale", type=float, default=0.003, help="of the programs' work")
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="this program (may be repeated)")
    return parser.parse_args()


def kind_of(callee, is_item):
    return "item" if is_item else "operator" if " " in callee else "call"


def by_confirm(runner, program, base, folder):
    db = folder / f"{program.name}.db"
    shutil.copy(base, db)
    planted.plant(db, program.path, dict.fromkeys(program.lines, planted.REPEATED))
    done = runner.execute([runner.pieprof, "confirm", db, "--", *runner.words(program, False)], runner.for_pieprof())
    with contextlib.closing(sqlite3.connect(db)) as file:
        rows = [Row(line, callee, kind_of(callee, is_item), Figures(*figures), bool(is_compared))
                for line, callee, is_item, *figures, is_compared in file.execute(COUNTED, [str(program.path)])]
    return [row for row in rows if not row.name.endswith(MADE_BY_PYTHON) and not row.name.startswith("for x in ")], done.out


def by_copy(runner, program):
    lines = ",".join(map(str, sorted(program.lines)))
    command = [runner.python, HERE / "counted_copy.py", program.path, lines, *runner.words(program, False)[1:]]
    *out, last = runner.execute(command).out.splitlines(keepends=True)
    return [Row(int(line), name, kind, Figures(*figures), True)
            for line, rows in json.loads(last).items() for name, kind, *figures in rows], "".join(out)


def paired(confirmed, copied):
    """[(confirm's row, the copy's)], with None for what the other does not have. A row that agrees comes first; one of
    which values were not compared agrees with many."""
    left, pairs = list(copied), []
    confirmed = sorted(confirmed, key=lambda row: not row.is_compared)
    for exact in (True, False):
        for row in [row for row in confirmed if row not in [one for one, _ in pairs]]:
            fits = [other for other in left if (row.agrees(other) if exact else (row.line, row.kind) == (other.line, other.kind))]
            if fits:
                pairs.append((row, fits[0]))
                left.remove(fits[0])
    lone = [(row, None) for row in confirmed if row not in [one for one, _ in pairs]]
    return sorted(pairs + lone, key=lambda pair: pair[0][:2]) + [(None, row) for row in left]


def in_words(row):
    if row is None:
        return "nothing"
    calls, raised, *others = row.figures
    return f"{calls} ({raised} raised), {' / '.join(map(str, others))}" if row.kind != "item" else f"{calls}"


def table_row(program, row, other):
    is_same = row is not None and other is not None and row.agrees(other)
    shown = row or other
    cells = [program.name, shown.line, shown.name.replace("|", "\\|"), in_words(row), "the same" if is_same and row.is_compared
             else "the same calls" if is_same else in_words(other)]
    return "| " + " | ".join(map(str, cells)) + " |", is_same


def checksum(out):
    return json.loads(out.splitlines()[-1])


def compare(runner, program, base, folder):
    """Returns [(row of the table, is it the same)]."""
    confirmed, out = by_confirm(runner, program, base, folder)
    copied, other = by_copy(runner, program)
    if not runs.same(checksum(out), checksum(other)):
        raise runs.Failure(f"{program.name} computes something else when it is counted")
    return [table_row(program, *pair) for pair in paired(confirmed, copied)]


def main():
    options = arguments()
    programs = [program for program in catalogue.programs(options.only) if not program.is_clean]
    runner = runs.Runner(options.python, options.pieprof, options.scale, threads=1)
    runner.environment["PYTHONHASHSEED"] = "0"
    differences, failures = [], []
    print("| program | line | callee | confirm: calls, distinct arguments / distinct results / again | copy |\n|" + "---|" * 5)
    with tempfile.TemporaryDirectory() as name:
        base = pathlib.Path(name) / "base.db"
        runner.execute([runner.pieprof, "-q", "-o", base, "-c", "pass"], runner.for_pieprof())
        for program in programs:
            try:
                rows = compare(runner, program, base, base.parent)
            except runs.Failure as failure:
                failures.append(str(failure))
                continue
            print(*[text for text, _ in rows], sep="\n", flush=True)
            differences += [text for text, is_same in rows if not is_same]
    print(*failures, *differences, f"{len(programs)} programs, {len(differences)} differences", sep="\n", file=sys.stderr)
    return 1 if differences or failures else 0


if __name__ == "__main__":
    sys.exit(main())
