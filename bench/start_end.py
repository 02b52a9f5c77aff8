#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""What the start and the end of a process cost.

Each round runs all variants of each measurement, in an order drawn anew, and a variant is compared with python3 of the
same round. Figures are medians over the rounds, of wall time and of CPU time (of the process and of the children that
it has waited for), in ms. Where other work wants the processors, only CPU time says something. With --before it also
runs another build, in the same rounds.

`pass` is a process that does nothing. `subprocess` and `spawn` are one child that does nothing, of a parent that starts
several. `end of …` is the time from the last line of a program that uses a library to the end of its process. Where
--python is that of a virtual environment, its libraries are used.
"""

import argparse
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

import commands

HERE = pathlib.Path(__file__).resolve().parent
CHILDREN = 5
VENV = {}  # names the virtual environment to pieprof
GOALS_MS = {"pass": 25, "subprocess": 10, "spawn": 15, "end": 50}

CHILD_COST = f"""
def spent():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter(), used.ru_utime + used.ru_stime

if __name__ == "__main__":
    start()
    before = spent()
    for _ in range({CHILDREN}):
        start()
    print(*((b - a) / {CHILDREN} for a, b in zip(before, spent())))
"""
SUBPROCESS = """import resource, subprocess, sys, time
def start():
    subprocess.run([sys.executable, "-c", "pass"], check=True)
""" + CHILD_COST
SPAWN = """import multiprocessing, resource, time
def nothing():
    pass
def start():
    process = multiprocessing.get_context("spawn").Process(target=nothing)
    process.start()
    process.join()
""" + CHILD_COST

WORK = {
    "numpy": "import numpy as np\na = np.random.default_rng(1).random((300, 300))\nwork = lambda: np.linalg.svd(a @ a.T)",
    "pandas": "import numpy as np, pandas as pd\na = np.random.default_rng(1).random((50_000, 4))\n"
              "work = lambda: pd.DataFrame(a).groupby(lambda i: i % 100).agg(['mean', 'std'])",
    "torch": "import torch\na = torch.rand(300, 300)\nwork = lambda: torch.linalg.svd(a @ a.T)",
}
END = """
import time
until = time.process_time() + {seconds}
while time.process_time() < until:
    work()
used = time.process_time()
print(time.perf_counter(), used, flush=True)
"""


def has(python, library):
    return subprocess.run([python, "-c", f"import {library}"], stderr=subprocess.DEVNULL, check=False).returncode == 0


def run(command, words):
    """(stdout, end on perf_counter(), wall s, CPU s) of a process."""
    begun = time.perf_counter()
    process = subprocess.Popen([*map(str, command), *map(str, words)], env={**commands.environment(), **VENV}, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    ended = time.perf_counter()
    process.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise SystemExit(f"{process.args} ended with {process.returncode}")
    return text, ended, ended - begun, used.ru_utime + used.ru_stime


def whole(command, words):
    return run(command, words)[2:]


def printed(command, words):
    """What a parent says about one of its children."""
    return tuple(map(float, run(command, words)[0].split()))


def end(command, words):
    text, ended, _, cpu_s = run(command, words)
    said_s, used_s = map(float, text.split())
    return ended - said_s, cpu_s - used_s


def end_of(library):
    return f"end of {library}"


def measurements(folder, seconds, python, only):
    """{name: (function, words)}: all that python can import, or those of them that are in `only`. The first three need
    no library and are always there."""
    def script(name, text):
        path = pathlib.Path(folder, f"{name}.py")
        path.write_text(text, encoding="utf-8")
        return path

    found = {"pass": (whole, ["-c", "pass"]), "subprocess": (printed, [script("by_subprocess", SUBPROCESS)]),
             "spawn": (printed, [script("by_spawn", SPAWN)])}
    for library, work in WORK.items():
        if (not only or end_of(library) in only) and has(python, library):
            found[end_of(library)] = (end, [script(f"end_{library}", work + END.format(seconds=seconds))])
    return found


def variants(options, folder):
    builds = {"pieprof": options.pieprof, **({"before": options.before} if options.before else {})}
    return {"python3": [options.python], **{name: [build, "-o", f"{folder}/{name}.db"] for name, build in builds.items()}}


def one_round(choices, function, words, order):
    return {name: function(choices[name], words) for name in order.sample(list(choices), len(choices))}


def row(name, variant, rounds):
    """A line of the table: the variant's own figures, and what it has more than python3."""
    own = [statistics.median(one[variant][i] for one in rounds) * 1e3 for i in (0, 1)]
    more = [[(one[variant][i] - one["python3"][i]) * 1e3 for one in rounds] for i in (0, 1)]
    error = [2 * 1.2533 * 1.4826 * statistics.median(abs(m - statistics.median(ms)) for m in ms) / len(ms) ** 0.5
             for ms in more]
    goal = next(ms for word, ms in GOALS_MS.items() if name.startswith(word))
    return (f"| {name} | {variant} | {own[0]:.1f} | {own[1]:.1f} | {statistics.median(more[0]):+.1f} ± {error[0]:.1f} "
            f"| {statistics.median(more[1]):+.1f} ± {error[1]:.1f} | ≤ {goal} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--before", help="another build, in the same rounds")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time of the programs with libraries")
    parser.add_argument("--only", action="append", choices=["pass", "subprocess", "spawn", *map(end_of, WORK)],
                        help="this measurement (may be repeated)")  # fmt: skip
    options = parser.parse_args()
    order = random.Random(1)
    if pathlib.Path(options.python).parent.with_name("pyvenv.cfg").exists():
        VENV["VIRTUAL_ENV"] = str(pathlib.Path(options.python).absolute().parents[1])
    with tempfile.TemporaryDirectory() as folder:
        choices, known = variants(options, folder), measurements(folder, options.seconds, options.python, options.only)
        if absent := set(options.only or ()) - set(known):
            parser.error(f"--only {absent.pop()!r}: {options.python} cannot import it")
        print("| | | wall ms | CPU ms | more than python3, wall ms | CPU ms | goal |\n|---|---|---|---|---|---|---|")
        for name in options.only or known:
            function, words = known[name]
            rounds = []
            for _ in range(options.rounds):
                for path in pathlib.Path(folder).glob("*.db*"):
                    path.unlink()
                rounds.append(one_round(choices, function, words, order))
            for variant in [v for v in choices if v != "python3"]:
                print(row(name, variant, rounds), flush=True)


if __name__ == "__main__":
    main()
