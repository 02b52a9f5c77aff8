# SPDX-License-Identifier: Apache-2.0
"""Two functions that do equal work, one through a helper and one inlined (Scalene, section 6.2).

usage: function_bias.py PERCENT SECONDS     PERCENT of the time goes to the function that calls
"""

import sys

from measure import Phases, tell

STEPS = 100_000  # of one chunk: 5 to 15 ms


def helper(x):
    return (x * 75 + 74) % 65537


def calling():
    x = 1
    for _ in range(STEPS):
        x = helper(x)
    return x


def inlined():
    x = 1
    for _ in range(STEPS):
        x = (x * 75 + 74) % 65537
    return x


def main(share, seconds):
    phases = Phases()
    while phases.total() < seconds * 1e9:
        if phases.behind("calling", share):
            phases.begin()
            calling()
            phases.end("calling")
        else:
            phases.begin()
            inlined()
            phases.end("inlined")
    tell(seconds=phases.seconds(), share=phases.ns["calling"] / phases.total())


main(int(sys.argv[1]) / 100, float(sys.argv[2]))
