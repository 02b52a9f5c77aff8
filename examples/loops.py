# SPDX-License-Identifier: Apache-2.0
"""A loop that reads orders and prices them. Which of its calls takes the time? `pieprof examples/loops.py` times some
of the iterations, call by call, and says so; `python3 examples/loops.py` runs it as an ordinary loop."""

import json
import random
import re
import zlib

try:
    from pieprof import loop
except ImportError:  # plain Python
    loop = iter

CODE = re.compile(r"^([A-Z]{2})-(\d+)/(\w+)$")


def orders(count):
    """Lines of JSON, made beforehand."""
    choice = random.Random(7)
    return [json.dumps({"code": f"DE-{choice.randrange(10**6)}/x{choice.randrange(99)}",
                        "items": [[choice.randrange(1, 9), choice.randrange(100, 9999)] for _ in range(choice.randrange(1, 40))]})
            for _ in range(count)]


def price(items):
    return sum(number * cents for number, cents in items)


def discount(cents):
    """Tries every rebate: most of the time, though it looks harmless."""
    best = cents
    for per_cent in range(1, 60):
        best = min(best, cents - cents * per_cent // 100 if cents > 1000 * per_cent else cents)
    return best


def main():
    lines, total, checks = orders(8000), 0, 0
    for _ in range(5):
        for line in loop(lines):
            order = json.loads(line)
            code = CODE.match(order["code"])
            cents = price(order["items"])
            total += discount(cents)
            if int(code[2]) % 50 == 0:
                checks ^= zlib.crc32(line.encode())
    return total, checks


print(main())
