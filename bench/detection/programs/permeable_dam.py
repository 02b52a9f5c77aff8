# SPDX-License-Identifier: Apache-2.0
"""Water seeping through a dam, step by step: each step solves a system of three diagonals as if it were a full one."""

import numpy as np
import scipy.linalg

import harness

# A full solver takes n³ steps and reads a matrix of zeros; three diagonals take a few times n. The matrix changes with
# the water, so keeping a factorisation is not the way out: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"


class Dam:
    """Layers of soil from the lake to the air, wet in front."""

    def __init__(self, rng, layers):
        self.thick = 30.0 / layers
        soil = np.repeat(rng.lognormal(-0.5, 0.9, layers // 10 + 1), 10)[:layers]
        self.permeable = soil * rng.uniform(0.8, 1.2, layers)
        self.head = np.linspace(6.0, 1.0, layers) + 0.3 * rng.normal(size=layers)
        self.leak = 0.0

    def conductivity(self):
        """Between neighbours: the harmonic mean, less where it is dry."""
        own = self.permeable * np.clip(self.head / 6.0, 0.05, 1.0) ** 1.5
        return 2.0 * own[:-1] * own[1:] / (own[:-1] + own[1:])

    def diagonals(self, duration):
        flow = self.conductivity() * duration / self.thick**2
        main = np.ones(len(self.head))
        main[:-1] += flow
        main[1:] += flow
        return -flow, main

    def solve(self, side, main, right):
        matrix = np.diag(main) + np.diag(side, 1) + np.diag(side, -1)  # waste: load
        return np.linalg.solve(matrix, right)  # waste: load

    def step(self, lake, drain, duration):
        """One implicit step; the ends are held at the level of the lake and of the drain."""
        side, main = self.diagonals(duration)
        right = self.head.copy()
        right[0], right[-1] = right[0] + 5.0 * lake, right[-1] + 5.0 * drain
        main[[0, -1]] += 5.0
        self.head = self.solve(side, main, right)
        self.leak += 5.0 * max(self.head[-1] - drain, 0.0) * duration


class FixedDam(Dam):
    def solve(self, side, main, right):
        bands = np.zeros((2, len(main)))
        bands[0, 1:], bands[1] = side, main
        return scipy.linalg.solveh_banded(bands, right)


def lake_levels(rng, hours):
    """Floods come quickly and go slowly."""
    level, levels = 5.0, []
    for _ in range(hours):
        level += rng.exponential(1.5) if rng.random() < 0.02 else -0.03 * (level - 4.0)
        levels.append(min(level, 9.0))
    return levels


def work(dams, kind):
    rng = np.random.default_rng(1868)
    found = []
    for number in range(dams):
        dam = kind(rng, 201 + 4 * (number % 3))
        crest = []
        for lake in lake_levels(rng, 150):
            dam.step(lake, 0.5, 0.4)
            crest.append(dam.head[len(dam.head) // 2])
        found.append([dam.leak, dam.head.mean(), max(crest), int(np.argmax(crest))])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Dam), lambda n: work(n, FixedDam), repeats=58)
