# SPDX-License-Identifier: Apache-2.0
"""A simulated neuron whose course is recorded with np.append, which copies everything so far at each step."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"


def step(potential, recovery, current):
    """FitzHugh and Nagumo's equations, one step of Euler's method."""
    dt = 0.05
    faster = potential - potential**3 / 3.0 - recovery + current
    slower = 0.08 * (potential + 0.7 - 0.8 * recovery)
    return potential + dt * faster, recovery + dt * slower


def record(currents):
    potentials, recoveries = np.array([-1.0]), np.array([-0.5])
    for current in currents:
        potential, recovery = step(float(potentials[-1]), float(recoveries[-1]), current)
        potentials = np.append(potentials, potential)  # waste: store
        recoveries = np.append(recoveries, recovery)  # waste: store
    return potentials, recoveries


def record_fixed(currents):
    potentials, recoveries = [-1.0], [-0.5]
    for current in currents:
        potential, recovery = step(potentials[-1], recoveries[-1], current)
        potentials.append(potential)
        recoveries.append(recovery)
    return np.array(potentials), np.array(recoveries)


def spikes(potentials):
    return np.count_nonzero((potentials[:-1] < 1.0) & (potentials[1:] >= 1.0))


def work(repeats, follow):
    rng = np.random.default_rng(25)
    counts = []
    for _ in range(repeats):
        currents = (0.5 + 0.1 * rng.normal(size=40000)).tolist()
        potentials, recoveries = follow(currents)
        counts.append([spikes(potentials), potentials.mean(), recoveries.std()])
    return counts


if __name__ == "__main__":
    harness.main(lambda n: work(n, record), lambda n: work(n, record_fixed), repeats=11)
