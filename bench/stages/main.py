# SPDX-License-Identifier: Apache-2.0
"""The driver behind scripts/bench: which stages there are, what is left of them, and where the data goes."""

import argparse
import os
import pathlib
import platform
import random
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent)]

import charts  # noqa: E402
import columns as columns_  # noqa: E402
import commands  # noqa: E402
import page  # noqa: E402
import plan  # noqa: E402
import stage_budget  # noqa: E402
import stage_costs  # noqa: E402
import stage_others  # noqa: E402
import stage_scaling  # noqa: E402
import stage_truth  # noqa: E402

STAGES = (
    plan.Stage("start", "start and end: -c pass, children, imports of libraries", (4, 0.4), stage_others.start_steps),
    plan.Stage("python", "overhead of pyperformance's ten, all columns", (28, 3.2), stage_costs.python),
    plan.Stage("native", "overhead of eight programs with native libraries, all columns", (20, 2), stage_costs.native),
    plan.Stage("short", "twelve of these, 0.2 s of work", (8, 0.8), stage_costs.short),
    plan.Stage("long", "three programs, 60 s of work", (16, 0), stage_costs.long),
    plan.Stage("collectors", "costs by collector, in turns of a tenth of a second", (2.5, 0.4), stage_costs.collectors),
    plan.Stage("budget", "is the budget kept, and is the printed overhead true", (6, 0.4), stage_budget.steps),
    plan.Stage("truth", "function bias, split, 512 MB, planted leaks", (7, 0.6), stage_truth.steps),
    plan.Stage("scaling", "threads, processes, contexts, modules, code made by exec(), run length", (15, 1.4), stage_scaling.steps),
    plan.Stage("answers", "questions, the page, the sizes of both files", (0.3, 0.2), stage_others.answer_steps),
    plan.Stage("detection", "programs of bench/detection, set tuned", (9, 0.3), stage_others.detection_steps, is_cut=True),
    plan.Stage("hour", "memory and file of one run of an hour", (61, 0.6), stage_scaling.hour_steps, is_extra=True),
)
TURNS = 20


class Bench:
    """What steps are measured with."""

    def __init__(self, options):
        self.root, self.is_quick, self.is_trial, self.budget = ROOT, options.quick, options.trial, None
        embedder = options.pieprof.parent / "bench/embedder-static"
        self.columns = columns_.Columns(options.python, options.pieprof, [embedder], options.folder)
        self.environment = self.columns.environment(commands.environment())

    def of(self, whole, quick, trial=None):
        """What the form takes; a trial takes what the quick one does unless something smaller is given."""
        if self.is_trial and trial is not None:
            return trial
        return quick if self.is_quick or self.is_trial else whole

    def limit_s(self, whole, quick):
        """Of one process. A trial may run on a machine that others use."""
        return 20 * quick if self.is_trial else self.of(whole, quick)

    def turns(self, program, names):
        """{column: [(wall s, CPU s) of each turn]}; profiles are written into a folder that is removed."""
        with tempfile.TemporaryDirectory() as folder:
            path = self.root / f"bench/programs/{program}.py"
            chosen = {name: [*self.columns.command(name, f"{folder}/{number}", path), path, self.of(1.0, 0.3)]
                      for number, name in enumerate(names)}  # fmt: skip
            return commands.timed_turns(chosen, self.of(TURNS, TURNS, 2), random.Random(1))


def arguments():
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measures pieprof and every other profiler that is "
                                     "installed, in stages. A stage that is done is not run again.")
    parser.add_argument("stages", metavar="STAGE", nargs="*", help="only this one (all; --list has their names)")
    parser.add_argument("--quick", action="store_true", help="some 10 minutes in place of two hours; data of its own")
    parser.add_argument("--trial", action="store_true", help="the least of each stage: does it run? No figure of it is for use")
    parser.add_argument("--list", action="store_true", help="print the stages, their minutes and what is done, and the columns")
    parser.add_argument("--again", metavar="STAGE", action="append", default=[], help="run this stage even if it is done")
    parser.add_argument("--page", action="store_true", help="only write the page of the data that is there")
    parser.add_argument("--install", action="store_true", help="only put the peers into the folder, by pip")
    parser.add_argument("--pieprof", type=pathlib.Path, default=ROOT / "build/pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build-bench", help="of data, page and peers (build-bench)")
    return parser, parser.parse_args()


def install(python, folder):
    """A virtual environment that sees the system's packages, which are not installed once more. A package that cannot
    be had is an absent column or program."""
    subprocess.run([python, "-m", "venv", "--system-site-packages", folder], check=True)
    for line in (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            done = subprocess.run([folder / "bin/python", "-m", "pip", "install", "-q", "--only-binary", ":all:", line], check=False)
            print(f"{line}: {'there' if done.returncode == 0 else 'could not be installed'}", flush=True)
    return 0


def told(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout.strip()


def facts(bench):
    """What the data is of."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    tree = told(["git", "describe", "--always", "--dirty", "--abbrev=12"]) or "unknown"
    return {"tree": tree, "machine": f"{os.cpu_count()} × {model[0] if model else platform.machine()}, Linux {platform.release()}",
            "pieprof": told([bench.columns.pieprof, "-V"]), "python": told([bench.columns.python, "-V"]),
            "peers": [name for name in bench.columns.names if name in columns_.PEERS], "absent": bench.columns.absent,
            "commands": {name: [str(word) for word in bench.columns.command(name, "OUT", "PROGRAM")] for name in bench.columns.names}}


def listed(bench, stages, results):
    which = 0 if results.form == "whole" else 1
    for stage in stages:
        state = "done" if results.is_done(stage.name) else "begun" if results.read(stage.name) else ""
        only = " (only by its name)" if stage.is_extra else ""
        print(f"{stage.name:11} {stage.minutes[which]:5.1f} min  {state:5} {stage.what}{only}")
    minutes = sum(stage.minutes[which] for stage in stages if not stage.is_extra)
    print(f"all: {minutes:.0f} min\ncolumns: {', '.join(bench.columns.names)}")
    for name, reason in bench.columns.absent.items():
        print(f"absent: {name}, {reason}")


def write_page(results, bench):
    path, found = results.folder / "page.md", results.all(STAGES)
    # First, since the system's NumPy may be too old for the matplotlib that --install has put there.
    sys.path[:0] = [folder for folder in bench.columns.packages() if folder not in sys.path]
    drawn, why = charts.draw(found, results.folder)
    path.write_text(page.whole(found, bench.columns.absent, drawn, why), encoding="utf-8")
    print(f"page: {path}")


def main():
    parser, options = arguments()
    try:
        chosen = plan.choose(STAGES, [*options.stages, *options.again] if options.stages else [])
        again = plan.choose(STAGES, options.again) if options.again else []
    except ValueError as error:
        parser.error(str(error))
    options.pieprof, options.folder = options.pieprof.resolve(), options.folder.resolve()
    if options.install:
        return install(options.python, options.folder)
    if not os.access(options.pieprof, os.X_OK):
        parser.error(f"{options.pieprof} is not there: build it first, or name one with --pieprof")
    bench = Bench(options)
    results = plan.Results(options.folder, bench.of("whole", "quick", "trial"))
    if options.list:
        return listed(bench, chosen if options.stages else STAGES, results)
    if not options.page:
        for stage in again:
            results.forget(stage.name)
        known = facts(bench)
        for stage in chosen:
            plan.run(stage, results, known, bench, lambda text: print(text, file=sys.stderr, flush=True))
            write_page(results, bench)
        return 0 if all(results.is_done(stage.name) for stage in chosen) else 1
    write_page(results, bench)
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command goes on after the last step that is whole")
