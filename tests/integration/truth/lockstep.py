# SPDX-License-Identifier: Apache-2.0
"""Two functions that take turns in step with a clock: each cycle has two fifths in `first`.

usage: lockstep.py CYCLE_US SECONDS
"""

import sys
import time

from measure import Phases, tell


def first(until_ns):
    while time.perf_counter_ns() < until_ns:
        pass


def second(until_ns):
    while time.perf_counter_ns() < until_ns:
        pass


def main(cycle_ns, seconds):
    phases = Phases()
    at_ns = time.perf_counter_ns() + cycle_ns
    end_ns = at_ns + int(seconds * 1e9)
    while at_ns < end_ns:
        phases.begin()
        first(at_ns + cycle_ns * 2 // 5)
        phases.end("first")
        phases.begin()
        at_ns += cycle_ns
        second(at_ns)
        phases.end("second")
    tell(share=phases.ns["first"] / phases.total())


main(int(sys.argv[1]) * 1000, float(sys.argv[2]))
