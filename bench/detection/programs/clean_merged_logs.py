# SPDX-License-Identifier: Apache-2.0
"""Logs of several machines are merged by time, grouped by request and counted: heaps and iterators, each line once."""

import collections
import heapq
import itertools
import operator
import random

import harness

STAGES = ("proxy", "auth", "cart", "stock", "pay", "mail")
by_time, by_request = operator.itemgetter(0), operator.itemgetter(1)


def machine_log(rng, name, count):
    """(seconds, request, stage, milliseconds, machine), in order of time."""
    now = rng.uniform(0, 1)
    for _ in range(count):
        now += rng.expovariate(20.0)
        request = int(now * 4) * 8 + rng.randrange(8)
        yield now, request, rng.choice(STAGES), rng.lognormvariate(2.0, 1.0), name


def windows(lines, length):
    """Lines of the same stretch of time."""
    return itertools.groupby(lines, key=lambda line: int(line[0] / length))


class Window:
    def __init__(self, lines):
        self.lines = sorted(lines, key=by_request)

    def requests(self):
        for request, group in itertools.groupby(self.lines, key=by_request):
            steps = list(group)
            yield request, len({machine for *_, machine in steps}), sum(step[3] for step in steps)

    def slowest(self, count):
        return heapq.nlargest(count, self.requests(), key=operator.itemgetter(2))

    def stages(self):
        found = collections.defaultdict(float)
        for _, _, stage, taken, _ in self.lines:
            found[stage] += taken
        return found


class Trend:
    """Moving sum of the last windows."""

    def __init__(self, size):
        self.kept, self.total = collections.deque(maxlen=size), 0.0

    def add(self, value):
        if len(self.kept) == self.kept.maxlen:
            self.total -= self.kept[0]
        self.kept.append(value)
        self.total += value
        return self.total / len(self.kept)


def work(days):
    rng, found = random.Random(113), []
    for _ in range(days):
        logs = [machine_log(random.Random(rng.random()), name, 600) for name in range(5)]
        trend, worst, alarms, stages = Trend(6), 0.0, 0, collections.Counter()
        for _, lines in windows(heapq.merge(*logs, key=by_time), 2.0):
            window = Window(lines)
            slow = window.slowest(3)
            worst = max(worst, slow[0][2])
            alarms += trend.add(slow[-1][2]) < slow[0][2] / 2
            stages.update(window.stages())
        found.append([worst, alarms, max(stages.values()), min(stages.values())])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=900)
