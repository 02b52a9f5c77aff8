# SPDX-License-Identifier: Apache-2.0
"""Functions that call each other and burn known parts of the program's CPU time: nested, recursive, called by two, and
through the standard library. argv: seconds of CPU time in all."""
import functools
import json
import sys
import time

PARTS = {"outer": 1, "middle": 2, "inner": 4, "recursive": 3}  # and inner once more


def burn(parts):
    end = time.thread_time() + parts * UNIT
    while time.thread_time() < end:
        sum(range(100))


def inner():
    burn(PARTS["inner"])


def middle(unused):
    burn(PARTS["middle"])
    inner()


def outer():
    burn(PARTS["outer"])
    functools.reduce(lambda done, item: middle(item), [1], 0)


def recursive(depth):
    burn(PARTS["recursive"] / 6)
    if depth > 1:
        recursive(depth - 1)


def main():
    outer()
    recursive(6)
    inner()


UNIT = float(sys.argv[1]) / (sum(PARTS.values()) + PARTS["inner"])
main()
print(json.dumps({"seconds": time.process_time()}))
