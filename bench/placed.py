# SPDX-License-Identifier: Apache-2.0
"""Runs a program whose memory lies elsewhere with each seed, since that decides over several percent of a loop's time.
Up to 2000 numbers and strings come before it, of which every other one goes, and a frame of up to 4 kB calls it. It
imports nothing, so as to cost little.

usage: placed.py SEED PROGRAM [ARGUMENT]...
"""

import sys


def drawn(seed):
    """Numbers below 2**16, without end."""
    while True:
        seed = seed * 1103515245 + 12345 & 0x7FFFFFFF
        yield seed >> 15


def blocks(draw):
    made = [bytes(next(draw) & 255) if next(draw) & 1 else 1 << 20 | next(draw) for _ in range(next(draw) & 2047)]
    return [block for block in made if next(draw) & 1]


def frame(draw):
    """A function that calls another one, with as many variables as were drawn."""
    names = " = ".join(f"v{n}" for n in range(1 + (next(draw) & 511)))
    found = {}
    exec(f"def call(run):\n  {names} = 0\n  run()", found)
    return found["call"]


del sys.argv[0]
draw = drawn(int(sys.argv.pop(0)))
kept, call = blocks(draw), frame(draw)
sys.path[0] = sys.argv[0].rpartition("/")[0]
with open(sys.argv[0], encoding="utf-8") as file:
    code = compile(file.read(), sys.argv[0], "exec")
call(lambda: exec(code, {"__name__": "__main__", "__file__": sys.argv[0]}))
