# SPDX-License-Identifier: Apache-2.0
"""A seismograph keeps its last hour in a deque, which has no slices; islice() walks from its start to each window."""

import collections
import itertools
import random

import harness

CATEGORY = "API misuse"
KIND = "load"
KEPT, WINDOW, STEP = 60_000, 300, 100


def tremor(random_source, state, count):
    """The next samples of the ground's motion, integers."""
    height, speed = state
    samples = []
    for _ in range(count):
        speed += random_source.randrange(-9, 10) - height // 8 - speed // 4
        height += speed
        samples.append(height)
    return samples, (height, speed)


def triggers(kept):
    """Starts of windows that shake much more than the window before: [(start, how much)]."""
    found, before = [], None
    for start in range(0, len(kept) - WINDOW + 1, STEP):
        window = list(itertools.islice(kept, start, start + WINDOW))  # waste: load
        power = max(window) - min(window)
        if before and power > 1.3 * before:
            found.append((start, power))
        before = power
    return found


def triggers_fixed(kept):
    found, before, samples = [], None, list(kept)
    for start in range(0, len(samples) - WINDOW + 1, STEP):
        window = samples[start : start + WINDOW]
        power = max(window) - min(window)
        if before and power > 1.3 * before:
            found.append((start, power))
        before = power
    return found


def work(repeats, look):
    random_source = random.Random(408)
    samples, state = tremor(random_source, (0, 0), KEPT)
    kept, found = collections.deque(samples, maxlen=KEPT), []
    for _ in range(repeats):
        samples, state = tremor(random_source, state, 2000)
        kept.extend(samples)
        strong = look(kept)
        found.append([len(strong), sum(start for start, _ in strong), sum(power for _, power in strong)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, triggers), lambda n: work(n, triggers_fixed), repeats=80)
