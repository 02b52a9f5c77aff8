#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Is --overhead kept?

Each program runs for the given CPU seconds under each budget. It is asked for, so it is kept from the start; with
--unasked, it is the default's. "without" is the printed overhead without start and end, in percent of the program's CPU
time, short threads too: the median of the rounds, and the worst. "with" is all of it. "kept": of how many rounds
"without" is at most a point above the budget. Is the printed overhead the true one? See overhead_truth.py.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile

import commands

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = {
    "loop": "def work():\n  s = 0\n  for i in range(20_000): s += i * i % 7",
    "floats": "def work():\n  x = 0.5\n  for _ in range(20_000): x = 3.7 * x * (1 - x)",
    "blocks": "def work(): return [{'a': [i], 'b': str(i)} for i in range(3_000)]",
    "numpy": "import numpy\na = numpy.arange(250_000.0)\ndef work(): return float((a * 2 + 1).sum())",
    "elements": "import numpy\na = numpy.zeros(3000)\ndef work():\n  for i in range(2999): a[i + 1] = a[i] * 0.5 + 1",
    "asyncio": "import asyncio\nasync def step(n): await asyncio.sleep(0)\n"
               "async def steps(): await asyncio.gather(*(step(i) for i in range(200)))\n"
               "loop = asyncio.new_event_loop()\ndef work(): loop.run_until_complete(steps())",
    "exec": "n = 0\ndef work():\n  global n\n  for _ in range(50):\n    n += 1\n"
            "    exec(f'def f{n}(x):\\n  for i in range(100): x += i\\n  return x\\nf{n}({n})', {})",
    "threads": "import threading\ndef one(): sum(range(20_000))\n"
               "def work():\n  t = threading.Thread(target=one)\n  t.start()\n  t.join()",
}
CLOCK = "\nimport sys, time\nwhile time.process_time() < float(sys.argv[1]): work()\n"
ENDS = ("start", "end")


def shares(options, file, budget, seconds, folder):
    """(without, with) in percent: by the file and what the summary knows besides."""
    database = folder / "x.db"
    asked = [] if options.unasked else ["--overhead", f"{budget}%"]
    command = [options.pieprof, "-o", database, *asked, file, seconds]
    subprocess.run([str(word) for word in command], check=True, env=commands.environment(), stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)

    def rows(question):
        done = subprocess.run([options.pieprof, "query", database, question, "--json"], check=True, text=True,
                              stdout=subprocess.PIPE)
        return json.loads(done.stdout)["rows"]

    parts = {row["collector"]: row["cpu_s"] for row in rows("overhead")}
    (run,) = rows("runs")
    cpu_s, all_s = run["overhead_s"] / run["overhead_share"], sum(parts.values())
    database.unlink()
    return 100 * (all_s - sum(parts.get(name, 0) for name in ENDS)) / cpu_s, 100 * all_s / cpu_s, parts, cpu_s


def costliest(parts, cpu_s):
    most = sorted(((cost, name) for name, cost in parts.items() if name not in ENDS), reverse=True)[:3]
    return ", ".join(f"{name} {100 * cost / cpu_s:.1f}" for cost, name in most)


def arguments(words=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parent / "build" / "pieprof")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--budgets", type=float, nargs="+", default=[1, 2, 5, 10], metavar="PERCENT")
    parser.add_argument("--unasked", action="store_true", help="name no budget: the default of 5 %%, two seconds of which are free")
    parser.add_argument("--seconds", type=float, nargs="+", default=[1, 3, 10])
    parser.add_argument("--only", action="append", choices=PROGRAMS, help="this program (may be repeated)")
    return parser.parse_args(words)


def main():
    options = arguments()
    if options.unasked:
        options.budgets = [5]
    print("| program | CPU s | budget | without | worst | with | kept | what cost most, in the last round |\n|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        file = pathlib.Path(name, "program.py")
        for program in options.only or PROGRAMS:
            file.write_text(PROGRAMS[program] + CLOCK, encoding="utf-8")
            for seconds in options.seconds:
                for budget in options.budgets:
                    rounds = [shares(options, file, budget, seconds, pathlib.Path(name)) for _ in range(options.rounds)]
                    without, whole = [one[0] for one in rounds], [one[1] for one in rounds]
                    kept = sum(one <= budget + 1 for one in without)
                    print(f"| {program} | {seconds:g} | {budget:g} % | {statistics.median(without):.1f} % | {max(without):.1f} % "
                          f"| {statistics.median(whole):.1f} % | {kept} of {len(rounds)} | {costliest(*rounds[-1][2:])} |", flush=True)


if __name__ == "__main__":
    main()
