# SPDX-License-Identifier: Apache-2.0
"""A loop over six statements whose costs are known.

usage: six_statements.py SECONDS FILE       FILE is the generated program that is run and profiled

A statement is a sum of equal terms on one line, so its cost is in its length. The cost of each is measured alone,
in chunks of its own function, which take turns with chunks of the loop over all six.
"""

import importlib.util
import sys

from measure import Phases, tell

TERMS = (1, 2, 3, 4, 6, 8)
STEPS = 4000


def statement(terms):
    return "x = (" + " + ".join(["(x * 75 ^ y) % 8191"] * terms) + ") & 4095"


def source():
    """The program's text and the line of each statement in the loop over all six."""
    text = ["def six(steps, x=1, y=2):", "    for _ in range(steps):"]
    text += ["        " + statement(n) for n in TERMS]
    lines = list(range(3, 3 + len(TERMS)))
    text += ["", "", "def empty(steps, x=1, y=2):", "    for _ in range(steps):", "        pass"]
    for n in TERMS:
        text += ["", "", f"def alone_{n}(steps, x=1, y=2):", "    for _ in range(steps):", "        " + statement(n)]
    return "\n".join(text) + "\n", lines


def load(path):
    text, lines = source()
    with open(path, "w", encoding="utf-8") as out:
        out.write(text)
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, lines


def main(seconds, path):
    module, lines = load(path)
    phases = Phases()
    while phases.ns["six"] < seconds * 1e9:
        for _ in range(3):
            phases.begin()
            module.six(STEPS)
            phases.end("six")
        for name in ["empty", *(f"alone_{n}" for n in TERMS)]:
            phases.begin()
            getattr(module, name)(STEPS)
            phases.end(name)
    empty = phases.ns["empty"]
    costs = {2: empty, **{line: phases.ns[f"alone_{n}"] - empty for line, n in zip(lines, TERMS)}}
    alone = sum(costs.values())
    tell(shares={line: cost / alone for line, cost in costs.items()}, first_line=1, last_line=lines[-1],
         together=phases.ns["six"] / 3 / alone)


main(float(sys.argv[1]), sys.argv[2])
