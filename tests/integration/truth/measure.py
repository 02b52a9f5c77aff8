# SPDX-License-Identifier: Apache-2.0
"""How a program of this folder knows what it did: the CPU clock of the calling thread, read around whole phases.

A reading costs about half a microsecond, so phases are a millisecond and longer. What a phase costs is known before
the profiler is asked, and from a clock that the profiler does not use.
"""

import collections
import json
import time


class Phases:
    """CPU time of the calling thread by name of phase."""

    def __init__(self):
        self.ns = collections.Counter()
        self.begun = 0

    def begin(self):
        self.begun = time.thread_time_ns()

    def end(self, name):
        self.ns[name] += time.thread_time_ns() - self.begun

    def total(self):
        return sum(self.ns.values())

    def behind(self, name, share):
        """Has this phase had less than its share so far?"""
        return self.ns[name] <= share * self.total()

    def seconds(self):
        return {name: ns / 1e9 for name, ns in self.ns.items()}


def tell(**truth):
    """The last line a program prints."""
    print(json.dumps(truth), flush=True)
