#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""How true is what pieprof learns of loops, and what does it cost? Prints markdown tables.

For each of programs/ truth.py makes the truth; some runs of pieprof learn, one samples time by line; then the program
takes turns under plain python, pieprof with everything off, learning alone, learning until all is decided, and cProfile
(../commands.py). A ratio is the median over the turns; of several rounds the median and the range are shown.
"""

import argparse
import json
import pathlib
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import commands  # noqa: E402
import compare  # noqa: E402
import report  # noqa: E402
import truth as truths  # noqa: E402

OFF = "--no-time --no-redundancy --no-memory --no-copies"
PARTS = ("accuracy", "overhead")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parents[1] / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--scale", type=float, default=1.0, help="of the programs' work; 1 is 2 to 3 seconds each")
    parser.add_argument("--repetitions", type=int, default=9, help="of the truth; a multiple of 3")
    parser.add_argument("--runs", type=int, default=5, help="of learning, each held against the truth; the last one is shown in full")
    parser.add_argument("--rounds", type=int, default=3, help="of new processes, for the overhead")
    parser.add_argument("--turns", type=int, default=20, help="parts of a program's work in which processes take turns")
    parser.add_argument("--off", metavar="OPTIONS", default=OFF + " --no-learn", help="of pieprof: nothing at all")
    parser.add_argument("--learning", metavar="OPTIONS", default=OFF, help="of pieprof: learning and nothing else")
    parser.add_argument("--decided", metavar="OPTIONS", default=OFF + " --learn-interval 3600s --learn-policy rejects --learn-budget 2000",
                        help="of pieprof: learning until 2000 calls were seen, and no more")
    parser.add_argument("--sampling", metavar="OPTIONS", default="--no-redundancy --no-memory --no-copies --no-learn",
                        help="of pieprof: samples of time and nothing else")
    parser.add_argument("--plain-truth", action="store_true", help="make the truth under --python, not under pieprof --off")
    parser.add_argument("--only", metavar="NAME", action="append", choices=truths.PROGRAMS, help="this program (may be repeated)")
    parser.add_argument("--part", action="append", choices=PARTS, help="this part of the measurement (may be repeated)")
    parser.add_argument("--keep", metavar="FOLDER", help="keep truths and databases there")
    options = parser.parse_args()
    options.only, options.part = options.only or truths.PROGRAMS, options.part or PARTS
    return options


def pieprof(options, words, db):
    db.unlink(missing_ok=True)
    return [str(options.pieprof), "-q", "-o", str(db), *shlex.split(words)]


def true_shares(options, program, folder):
    """By the same interpreter that learns, so that its speed is no part of the difference."""
    output = folder / f"{program}.json"
    words = [HERE / "truth.py", program, "--scale", options.scale, "--repetitions", options.repetitions, "-o", output]
    first = [options.python] if options.plain_truth else pieprof(options, options.off, folder / "truth.db")
    commands.check(subprocess.run([str(w) for w in [*first, *words]], capture_output=True, text=True, env=commands.environment()))
    return json.loads(output.read_text(encoding="utf-8"))


def accuracy(options, program, folder):
    """One row of the table, and the program's own table."""
    truth = true_shares(options, program, folder)
    words = [HERE / "programs" / f"{program}.py", options.scale]
    learned, sampled = folder / f"{program}.learned.db", folder / f"{program}.sampled.db"
    commands.timed_program([*pieprof(options, options.sampling, sampled), *words])
    apart, together = compare.sampled_lines(sampled, truth)
    lines, all_kl, calls_kl, insides = compare.truth_lines(truth), [], [], []
    for _ in range(options.runs):
        commands.timed_program([*pieprof(options, options.learning, learned), *words])
        rows = compare.learned_rows(learned, truth)
        shares = compare.learned_lines(rows)
        all_kl.append(compare.kl(lines, shares))
        calls_kl.append(compare.kl(compare.calls_only(lines), compare.calls_only(shares)))
        insides.append(compare.covered(truth, rows))
    observed = next((row["observed_iterations"] for row in rows), 0)
    row = [program, f"{truth['body_us']:.2f}", report.spread(all_kl, "{:.4f}"), report.spread(calls_kl, "{:.4f}"),
           f"{compare.kl(lines, apart):.4f}", f"{compare.kl(lines, together):.4f}",
           f"{sum(inside for inside, _ in insides)} of {sum(of for _, of in insides)}",
           f"{observed} of {truth['iterations']}", decisions(rows), f"{truth['calls_and_rest']:.3f}"]
    return row, f"#### {program}\n\n{compare.table(truth, rows)}"


def decisions(rows):
    """How many calls were decided, the first and the last one after how many observed iterations."""
    calls = [row for row in rows if not compare.is_own_code(row) and row["calls"]]
    after = sorted(row["decided_after"] for row in calls if row["decided_after"])
    return f"{len(after)} of {len(calls)}" + (f", after {after[0]} to {after[-1]}" if after else "")


def variants(options, folder):
    return {"plain": [options.python], "off": pieprof(options, options.off, folder / "off.db"),
            "learning": pieprof(options, options.learning, folder / "learning.db"),
            "decided": pieprof(options, options.decided, folder / "decided.db"),
            "cProfile": [options.python, "-m", "cProfile", "-o", str(folder / "cprofile")]}


def overhead(options, program, folder):
    """One row: ratios of wall time, over rounds."""
    orders = random.Random(program)
    rounds = []
    for _ in range(options.rounds):
        words = [HERE / "programs" / f"{program}.py", options.scale]
        choices = {name: [*command, *words] for name, command in variants(options, folder).items()}
        rounds.append(commands.timed_turns(choices, options.turns, orders))
    times = {name: [found[name] for found in rounds] for name in rounds[0]}
    plain = statistics.median(sum(wall for wall, _ in turns) for turns in times["plain"])
    pairs = [("learning", "off"), ("decided", "off"), ("learning", "plain"), ("off", "plain"), ("cProfile", "plain")]
    late = {name: [turns[len(turns) // 2:] for turns in rounds] for name, rounds in times.items()}
    return [program, f"{plain:.2f}", *(report.spread(report.ratios(of[a], of[b], 0))
                                       for a, b in pairs for of in [late if a == "decided" else times])]


def measure(options, folder):
    found, tables, costs = [], [], []
    for program in options.only:
        report.progress(program)
        if "accuracy" in options.part:
            row, table = accuracy(options, program, folder)
            found.append(row)
            tables.append(table)
        if "overhead" in options.part:
            costs.append(overhead(options, program, folder))
    parts = [report.machine(options).replace("bench/run.py", "bench/learn/run.py")]
    if found:
        header = ["program", "body µs", "KL learned", "of the calls alone", "KL sampled", "KL sampled by lines only",
                  "intervals hold the truth", "observed iterations", "decided calls", "sum of the truth"]
        parts += [report.table("Shares of the loop's calls", header, found), *tables]
    if costs:
        header = ["program", "plain s", "learning / off", "decided / off, second half", "learning / plain", "off / plain", "cProfile / plain"]
        parts.append(report.table("Overhead: ratios of wall time", header, costs))
    print("\n\n".join(parts))


def main():
    options = arguments()
    if options.keep:
        folder = pathlib.Path(options.keep)
        folder.mkdir(parents=True, exist_ok=True)
        measure(options, folder)
    else:
        with tempfile.TemporaryDirectory() as name:
            measure(options, pathlib.Path(name))


if __name__ == "__main__":
    main()
