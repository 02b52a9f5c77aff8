# SPDX-License-Identifier: Apache-2.0
"""Fills the profiler's tables: chains of new functions, CHAINS of them, each DEPTH deep and each sampled at its end.
Then a function that was not seen before works for a second of CPU time, and so shows its time and its line."""

import json
import sys
import time

CHAINS, DEPTH = (int(word) for word in sys.argv[1:])
BURN_S = 0.005


def burn(cpu_s):
    end_s = time.thread_time() + cpu_s
    while time.thread_time() < end_s:
        pass


def chain(number):
    names = [f"f{number}_{i}" for i in range(DEPTH)] + [f"burn({BURN_S})"]
    source = "".join(f"def {name}():\n  return {after}{'' if '(' in after else '()'}\n"
                     for name, after in zip(names, names[1:]))
    space = {"burn": burn}
    exec(compile(source, f"<chain {number}>", "exec"), space)
    space[names[0]]()


def late_caller():
    space = {"time": time}
    source = "def late(end_s):\n  x = 0\n  while time.thread_time() < end_s:\n    for i in range(50): x += i\n"
    exec(compile(source, "<late>", "exec"), space)
    space["late"](time.thread_time() + 1.0)


sys.setrecursionlimit(10 * DEPTH + 1000)
for n in range(CHAINS):
    chain(n)
start_s = time.thread_time()
late_caller()
print(json.dumps({"late_s": time.thread_time() - start_s}))
