# SPDX-License-Identifier: Apache-2.0
"""codes.py SECONDS_OF_EACH: text that is made into code, the same few ones again and others each time, and code that is
run again. Seconds are of CPU time."""
import json
import sys
import time

SECONDS = float(sys.argv[1])
FORMULAS = [f"({k} + x) * (x - {k}) + {k} if x > {k} else x // {k + 1}" for k in range(7)]
PROGRAM = "total = 0\nfor n in range(3):\n    total += n\n" * 20
CODES = [compile(text, "formula", "eval") for text in FORMULAS]
asked = 0


def turns():
    for x, text in enumerate(FORMULAS):
        eval(text, {"x": x})  # turns


def program():
    exec(compile(PROGRAM, "program", "exec"), {})  # program


def others():
    global asked
    asked += 1
    eval(f"({asked} + x) * (x - {asked}) + {asked} if x > {asked} else x // {asked + 1}", {"x": asked})  # others


def codes():
    for x, code in enumerate(CODES):
        eval(code, {"x": x})  # codes


end = time.process_time() + 4 * SECONDS
while time.process_time() < end:
    for body in (turns, program, others, codes):  # in turn, a fiftieth of a second each
        until = time.process_time() + 0.02
        while time.process_time() < until:
            body()
print(json.dumps({"texts": len(FORMULAS)}))
