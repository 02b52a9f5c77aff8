# SPDX-License-Identifier: Apache-2.0
"""Magnetic films at rising temperature: spins turn by the two colours of a checkerboard, with independent sites."""

import numpy as np

import harness


def around(other, shift):
    """Sums over the four neighbours, all of the other colour; every second row is shifted by half a step."""
    total = np.roll(other, 1, axis=0) + np.roll(other, -1, axis=0) + other
    total[shift::2] += np.roll(other[shift::2], -1, axis=1)
    total[1 - shift::2] += np.roll(other[1 - shift::2], 1, axis=1)
    return total


class Film:
    """Spins of each colour in an array of their own, half as wide as the film. Even sides, so that its edges meet."""

    def __init__(self, rng, rows, columns):
        self.rng = rng
        self.colours = [np.ones((rows, columns // 2), dtype=np.int8) for _ in range(2)]
        self.free = [rng.random((rows, columns // 2)) > 0.03 for _ in range(2)]

    def sweep(self, chances):
        """chances[k + 4]: of turning, with k = spin times the sum of its neighbours."""
        for number, spins in enumerate(self.colours):
            chance = chances[spins * around(self.colours[1 - number], number) + 4]
            turning = self.rng.random(spins.shape, dtype=np.float32) < chance
            turning &= self.free[number]
            np.negative(spins, out=spins, where=turning)

    def energy(self):
        """For each site; all bonds have one end of each colour."""
        one, other = self.colours
        return -float((one * around(other, 0)).sum(dtype=int)) / (2 * one.size)

    def magnet(self):
        return float(np.mean([spins.mean(dtype=float) for spins in self.colours]))


def chances(temperature):
    sums = np.arange(-4, 5)
    return np.minimum(1.0, np.exp(-2.0 * sums / temperature)).astype(np.float32)


def warm(film, temperature, sweeps):
    """Averages over the second half of the sweeps."""
    table, seen = chances(temperature), []
    for number in range(sweeps):
        film.sweep(table)
        if number * 2 >= sweeps:
            seen.append((film.energy(), film.magnet()))
    energies, magnets = np.array(seen).T
    return [energies.mean(), energies.var() / temperature**2, np.abs(magnets).mean()]


def work(films):
    rng = np.random.default_rng(1925)
    found = []
    for number in range(films):
        film = Film(rng, 130 + 2 * (number % 5), 114)
        found.append([warm(film, temperature, 60) for temperature in (1.4, 1.9, 2.2, 2.3, 2.6, 3.4)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=80)
