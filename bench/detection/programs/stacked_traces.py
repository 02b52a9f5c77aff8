# SPDX-License-Identifier: Apache-2.0
"""Echoes of explosions are stacked: the samples of each trace are moved by its delay and added up one by one."""

import numpy as np

import harness

# A trace moved by its delay is a slice, which can be added as a whole: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
SAMPLES, TRACES, STEP_S = 500, 24, 0.004


class Gather:
    """Traces of one common depth point, by distance of source and receiver."""

    def __init__(self, rng):
        self.offsets = np.sort(rng.uniform(50, 1200, TRACES))
        self.speed = rng.uniform(1800, 2600)
        self.traces = rng.normal(0, 0.3, (TRACES, SAMPLES))
        for depth_s, strength in zip(np.sort(rng.uniform(0.3, 1.5, 4)), rng.choice((-1.0, 1.0), 4) * rng.uniform(1, 2, 4)):
            arrival = np.sqrt(depth_s**2 + np.square(self.offsets / self.speed))
            time = np.arange(SAMPLES) * STEP_S - arrival[:, None]
            self.traces += strength * (1 - 2 * np.square(60 * time)) * np.exp(-np.square(60 * time))

    def mute(self):
        """The first waves along the surface say nothing."""
        first = (self.offsets / 3000.0 / STEP_S).astype(int)
        for number, count in enumerate(first.tolist()):
            self.traces[number, :count] = 0.0

    def delays(self, speed, centre_s=0.8):
        """Of the offsets, in samples, for echoes around one time."""
        move = np.sqrt(centre_s**2 + np.square(self.offsets / speed)) - centre_s
        return np.rint(move / STEP_S).astype(int).tolist()


def stack(traces, delays):
    total = np.zeros(SAMPLES)
    for number, delay in enumerate(delays):
        for i in range(SAMPLES - delay):
            total[i] += traces[number, i + delay]  # waste: load
    return total / len(delays)


def stack_fixed(traces, delays):
    total = np.zeros(SAMPLES)
    for number, delay in enumerate(delays):
        total[:SAMPLES - delay] += traces[number, delay:]
    return total / len(delays)


def semblance(traces, stacked, width=9):
    window = np.ones(width)
    power = np.convolve(np.square(stacked), window, mode="same")
    whole = np.convolve(np.square(traces).mean(axis=0), window, mode="same")
    return power / np.maximum(whole, 1e-9)


def analyse(gather, stacking):
    """The speed at which the echoes add up best."""
    best = (0.0, 0.0)
    for speed in np.linspace(1600, 2800, 9):
        stacked = stacking(gather.traces, gather.delays(speed))
        best = max(best, (float(semblance(gather.traces, stacked).max()), float(speed)))
    return best


def work(points, stacking):
    rng, found = np.random.default_rng(97), []
    for _ in range(points):
        gather = Gather(rng)
        gather.mute()
        likeness, speed = analyse(gather, stacking)
        found.append([likeness, speed / gather.speed])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, stack), lambda n: work(n, stack_fixed), repeats=300)
