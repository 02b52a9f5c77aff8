# SPDX-License-Identifier: Apache-2.0
"""A service that makes code as long as it runs, as template engines and query compilers do: each call compiles a new
function with a name of its own, runs it and drops it. In the last tenth of the time it calls one such function again
and again. Prints {"compiled", "rss_bytes": {second: …}} in JSON, and to stderr a line each ten seconds."""

import json
import sys
import time

TEMPLATE = """
def request_{n}(x):
    total = 0
    for i in range(200):
        total += i * x + len('{n}')
    return total
result = request_{n}(3)
"""


def rss_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * 4096


def make(n):
    namespace = {}
    exec(compile(TEMPLATE.format(n=n), f"<template {n}>", "exec"), namespace)
    return namespace[f"request_{n}"]


def main(seconds):
    begin, compiled, resident, again = time.monotonic(), 0, {}, None
    while (age := time.monotonic() - begin) < seconds:
        if age // 10 * 10 not in resident:
            resident[age // 10 * 10] = rss_bytes()
            print(f"{age:6.0f} s: {compiled} compiled, {resident[age // 10 * 10] / 1e6:.1f} MB resident", file=sys.stderr, flush=True)
        for _ in range(100):
            if age < 0.9 * seconds:
                make(compiled)
                compiled += 1
            else:
                again = again or make("last")
                again(3)
    print(json.dumps({"compiled": compiled, "rss_bytes": {int(s): b for s, b in resident.items()}}))


if __name__ == "__main__":
    main(float(sys.argv[1]))
