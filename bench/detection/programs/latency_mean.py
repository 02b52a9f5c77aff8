# SPDX-License-Identifier: Apache-2.0
"""A service's latencies by minute; statistics.mean adds them as exact fractions where fmean would do."""

import random
import statistics

import harness

CATEGORY = "API misuse"
KIND = "load"


def minute(random_source, requests):
    """Milliseconds; a few requests wait for the disk."""
    slow = (random_source.random() < 0.02 for _ in range(requests))
    return [int(random_source.expovariate(1.0 / (400.0 if wait else 40.0))) for wait in slow]


def report(minutes):
    found = []
    for latencies in minutes:
        latencies.sort()
        worst = latencies[len(latencies) * 99 // 100 :]
        usual = statistics.mean(latencies)  # waste: load
        late = statistics.mean(worst)  # waste: load
        found.append([usual, statistics.median(latencies), late])
    return found


def report_fixed(minutes):
    found = []
    for latencies in minutes:
        latencies.sort()
        worst = latencies[len(latencies) * 99 // 100 :]
        usual = statistics.fmean(latencies)
        late = statistics.fmean(worst)
        found.append([usual, statistics.median(latencies), late])
    return found


def alarms(rows):
    """Minutes in which the slowest requests took ten times as long as the usual one."""
    return sum(worst > 10.0 * middle for _, middle, worst in rows)


def work(repeats, tell):
    random_source = random.Random(110)
    hours = [[minute(random_source, 600) for _ in range(60)] for _ in range(4)]
    found = []
    for hour in range(repeats):
        rows = tell(hours[hour % 4])
        found.append([sum(row[0] for row in rows), sum(row[1] for row in rows), alarms(rows)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, report), lambda n: work(n, report_fixed), repeats=600)
