# SPDX-License-Identifier: Apache-2.0
"""What the loop programs share. Each has COUNT, the iterations of its usual work (2 to 3 seconds); items(count), an
iterator over the seeded input, made before anything is timed; and work(items), the function with the one loop that is
learned. `PROGRAM.py [SCALE [TURNS]]` is run and timed as those of ../../programs are (harness.py); with TURNS each part
goes on in the input where the last one ended. ../truth.py loads a program without running it."""

import argparse
import itertools
import pathlib
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "programs"))

from harness import timed  # noqa: E402

try:
    from pieprof import loop
except ImportError:
    loop = iter

__all__ = ["loop", "run"]


def run(work, items, count, mb=None):
    """mb: size of the usual input, for programs that take --size instead of a scale."""
    parser = argparse.ArgumentParser()
    parser.add_argument("scale", nargs="?", type=float, default=1.0)
    parser.add_argument("turns", nargs="?", type=int, default=0)
    if mb:
        parser.add_argument("--size", metavar="MB", type=float, help="of the input, instead of SCALE")
    options = parser.parse_args()
    if mb and options.size:
        options.scale = options.size / mb
    count = max(1, options.turns, round(count * options.scale))
    source = items(count)
    if not options.turns:
        timed(work, source)
    for _ in range(options.turns):
        sys.stdin.readline()
        timed(work, itertools.islice(source, count // options.turns))
