#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What watching for redundant loads and stores costs, and what it finds for that.

Each program of programs/ (and of ../programs/, with --bench) runs under pieprof in several variants:

  off           --no-time: pieprof is there, nothing is profiled. The baseline
  time          --no-redundancy: samples of time, 1 kHz
  default       time, loads and stores together, 1 kHz
  250hz, 4khz…  the same at another rate

In each round the variants take turns in an order that is drawn anew; a ratio is taken between runs of one round, and
the median over the rounds counts. CPU time is that of the whole process: imports, pieprof's own thread and the writing
of the file are in it. Memory is the peak of resident memory. The findings are those at the true lines (see run.py).
"""

import argparse
import collections
import dataclasses
import datetime
import pathlib
import platform
import random
import statistics
import sys
import tempfile

import catalogue
import judge
import runs
import tables

HERE = pathlib.Path(__file__).resolve().parent
OPTIONS = {"off": ["--no-time"], "time": ["--no-redundancy"], "default": []}


@dataclasses.dataclass
class Task:
    name: str
    words: list
    program: catalogue.Program | None  # None: nothing is known of its waste


@dataclasses.dataclass
class Run:
    done: runs.Done
    verdict: judge.Verdict | None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parents[1] / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3", help="whose packages are used (see run.py)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1.0, help="of their work; 1 is 5 to 8 seconds for most, up to 60 for a few")
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="this program (may be repeated)")
    parser.add_argument("--bench", action="store_true", help="also the programs of ../programs")
    parser.add_argument("--variant", metavar="V", action="append", default=[], help="see above (may be repeated); default: "
                        "off, time, default")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables there")
    return parser.parse_args()


def tasks(options):
    found = [Task(p.name, [str(p.path), "--scale", str(options.scale)], p) for p in catalogue.programs()]
    if options.bench:
        found += [Task(path.stem, [str(path), str(options.scale)], None)
                  for path in sorted((HERE.parent / "programs").glob("*.py")) if path.stem not in ("harness", "mixed")]
    unknown = set(options.only) - {task.name for task in found}
    if unknown:
        sys.exit(f"speed.py: no such program: {', '.join(sorted(unknown))}")
    return [task for task in found if not options.only or task.name in options.only]


def measure(runner, task, variant, file):
    done = runner.under_pieprof(task.words, file, OPTIONS.get(variant, ["--rate", variant]))
    watched = task.program and variant not in ("off", "time")
    verdict = judge.judge(task.program, runner.query(file, "all redundancy")) if watched else None
    file.unlink()
    return Run(done, verdict)


def rounds_of(options, runner, task, variants, folder):
    """{variant: [Run]}"""
    found = collections.defaultdict(list)
    for _ in range(options.rounds):
        for variant in random.sample(variants, len(variants)):
            found[variant].append(measure(runner, task, variant, folder / "x.db"))
    return found


COSTS = {"CPU time": lambda done: done.cpu_s, "wall time": lambda done: done.wall_s}


def ratio(found, variant, base, key):
    """Median over the rounds."""
    return statistics.median(key(a.done) / key(b.done) for a, b in zip(found[variant], found[base]))


def of_all(results, variants):
    """One line for each variant: geometric mean and worst."""
    lines = tables.head(["variant", *(f"{name}: mean, worst" for name in COSTS), "peak memory: most beyond ×1.10"])
    for variant in variants[1:]:
        cells = [variant]
        for name in COSTS:
            ratios = {task.name: ratio(found, variant, variants[0], COSTS[name]) for task, found in results}
            worst = max(ratios, key=ratios.get)
            cells.append(f"{statistics.geometric_mean(ratios.values()):.3f}, {ratios[worst]:.3f} ({worst})")
        beyond = {task.name: beyond_mib(found, variants[0], variant) for task, found in results}
        most = max(beyond, key=beyond.get)
        cells.append(f"{beyond[most]:.0f} MiB ({most})")
        lines.append(tables.row(cells))
    return "\n".join(lines)


def beyond_mib(found, base, variant):
    """What the peak of memory is more than 1.1 times the baseline's."""
    return statistics.median(a.done.peak_mib - 1.1 * b.done.peak_mib for a, b in zip(found[variant], found[base]))


def of_each(results, variants):
    cells = ["program", f"{variants[0]}, CPU s", *(f"{v} / {variants[0]}, CPU (wall)" for v in variants[1:])]
    lines = tables.head(cells)
    for task, found in results:
        seconds = statistics.median(run.done.cpu_s for run in found[variants[0]])
        lines.append(tables.row([task.name, f"{seconds:.1f}", *(
            f"{ratio(found, v, variants[0], COSTS['CPU time']):.3f} ({ratio(found, v, variants[0], COSTS['wall time']):.3f})" for v in variants[1:])]))
    return "\n".join(lines)


def of_findings(results, variants):
    """How findings move with the rate."""
    watched = [v for v in variants if v not in ("off", "time")]
    lines = tables.head(["program", *(f"{v}: rank; traps; redundant" for v in watched)])
    for task, found in results:
        if task.program and not task.program.is_clean:
            lines.append(tables.row([task.name, *(in_words([run.verdict for run in found[v]]) for v in watched)]))
    return "\n".join(lines)


def in_words(verdicts):
    findings = [verdict.finding for verdict in verdicts if verdict.finding]
    traps = judge.median([finding["traps"] for finding in findings])
    fraction = judge.median([finding["redundant_fraction"] for finding in findings])
    return f"{tables.ranks(verdicts)}; {tables.figure(traps, '{:.0f}')}; {tables.figure(fraction)}"


def main():
    options = arguments()
    variants = options.variant or ["off", "time", "default"]
    runner = runs.Runner(options.python, options.pieprof, options.scale, 1)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for task in tasks(options):
            found = rounds_of(options, runner, task, variants, pathlib.Path(folder))
            results.append((task, found))
            print(task.name, *(f"{v} {ratio(found, v, variants[0], COSTS['CPU time']):.3f}" for v in variants[1:]), file=sys.stderr, flush=True)
    version = runner.execute([runner.pieprof, "--version"]).out.strip()
    parts = [f"- {datetime.date.today()}, {platform.release()}, {version}\n- `bench/detection/speed.py {' '.join(sys.argv[1:])}`",
             of_all(results, variants), of_each(results, variants)]
    if any(v not in ("off", "time", "default") for v in variants):
        parts.append(of_findings(results, variants))
    text = "\n\n".join(parts) + "\n"
    print(text)
    if options.markdown:
        pathlib.Path(options.markdown).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except runs.Failure as failure:
        sys.exit(f"speed.py: {failure}")
