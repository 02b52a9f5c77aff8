# SPDX-License-Identifier: Apache-2.0
"""A little of everything, for counting instructions under an emulator: calls, loops, attributes, JSON, regular
expressions, sorting and strings. A tenth of a second on real hardware."""

import json
import re

from harness import run


class Point:
    def __init__(self, x):
        self.x = x

    def move(self, by):
        self.x += by
        return self.x


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def work(repeats):
    total = 0
    for i in range(repeats):
        total += fib(15)
        point = Point(i)
        total += sum(point.move(k) for k in range(400))
        text = json.dumps({"n": list(range(100)), "s": ["x" * k for k in range(40)]})
        total += len(json.loads(text)["n"]) + len(re.findall(r"\d+", text))
        total += sorted((k * 7919 % 1000 for k in range(500)), key=lambda v: -v)[0]
        total += len("".join(reversed(text)).upper().split(","))
    return total


run(work, 30)
