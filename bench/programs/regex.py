# SPDX-License-Identifier: Apache-2.0
"""Regular expressions: long stays in one native function, with callbacks into Python."""

import re

from harness import run

TEXT = " ".join(f"item-{i:05d} <user{i}@example.org> {i * 37 % 1009}.{i % 97:02d} EUR;" for i in range(2000))
ADDRESS = re.compile(r"<(\w+)@((?:\w+\.)+\w+)>")
AMOUNT = re.compile(r"(\d+)\.(\d\d)\s+(EUR|USD)")


def work(repeats):
    for _ in range(repeats):
        found = len(ADDRESS.findall(TEXT))
        text = AMOUNT.sub(lambda m: f"{m[3]} {int(m[1]) + 1},{m[2]}", TEXT)
        words = re.split(r"[\s;]+", text)
    return found, len(words)


run(work, 850)
