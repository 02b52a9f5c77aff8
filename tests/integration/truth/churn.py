# SPDX-License-Identifier: Apache-2.0
"""Thousands of functions that are compiled, run and dropped; a dropped one's memory serves the next.

usage: churn.py SECONDS THREADS

Function number N is called f_N, of class C_N, lives in file <churn-N> and begins at line 1 + N % 97, and its burn
loop takes lines 2 to 4 below that. Any two of the three that do not fit together are a wrong attribution. All sizes
are alike, so that code objects are made where others have just died.
"""

import itertools
import sys
import threading
import time

from measure import tell

TEXT = """\
class C_{n}:
    def f_{n}(self, x):
        for _ in range(2000):
            x = (x * 75 + 74) % 65537
            x ^= 1
        return x
"""
numbers = itertools.count(1)
totals = {}


def one(n):
    """The CPU time of function N and of the module around it, in seconds; without compiling."""
    scope = {}
    text = "\n" * (n % 97) + TEXT.format(n=f"{n:06d}")
    code = compile(text, f"<churn-{n:06d}>", "exec")
    start = time.thread_time()
    exec(code, scope)
    made = scope.pop(f"C_{n:06d}")()
    getattr(made, f"f_{n:06d}")(n)
    return time.thread_time() - start


def churn(seconds, index):
    count = functions_s = 0
    while time.thread_time() < seconds:
        functions_s += one(next(numbers))
        count += 1
    totals[index] = {"functions": count, "functions_s": functions_s, "cpu_s": time.thread_time()}


def main(seconds, threads):
    made = [threading.Thread(target=churn, args=(seconds, i)) for i in range(threads)]
    for thread in made:
        thread.start()
    for thread in made:
        thread.join()
    tell(**{name: sum(t[name] for t in totals.values()) for name in ("functions", "functions_s", "cpu_s")})


main(float(sys.argv[1]), int(sys.argv[2]))
