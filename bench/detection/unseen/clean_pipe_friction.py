# SPDX-License-Identifier: Apache-2.0
"""District heating: the flow in loops of pipes is balanced by Newton's method, with friction after Colebrook."""

import numpy as np
from scipy import linalg

import harness

HOUSES = 40
ROUGHNESS = 4.5e-5
DENSITY, VISCOSITY = 972.0, 3.55e-4


class Network:
    """Pipes between houses in a ring with some ties across; the plant feeds the first node."""

    def __init__(self, rng):
        ring = [(at, (at + 1) % HOUSES) for at in range(HOUSES)]
        ties = [(int(at), int(at + HOUSES // 2) % HOUSES) for at in rng.choice(HOUSES, 12, replace=False)]
        self.ends = np.array(ring + ties)
        count = len(self.ends)
        self.lengths = rng.uniform(30, 160, count)
        self.widths = rng.choice([0.05, 0.065, 0.08, 0.1], count)
        self.mass_by_speed = DENSITY * np.pi * self.widths ** 2 / 4
        self.reynolds_by_speed = DENSITY * self.widths / VISCOSITY
        self.rough = ROUGHNESS / self.widths / 3.7
        self.haaland = self.rough ** 1.11
        self.scale = self.lengths / self.widths * DENSITY / 2
        self.demand = rng.gamma(4, 0.02, HOUSES)
        self.incidence = np.zeros((HOUSES, count))
        self.incidence[self.ends[:, 0], np.arange(count)] = -1
        self.incidence[self.ends[:, 1], np.arange(count)] = 1
        self.flows = np.full(count, 0.3)

    def friction(self, speeds):
        """Darcy's factor: a few steps of Colebrook's equation from the guess of Haaland."""
        inverse = 1 / np.maximum(speeds * self.reynolds_by_speed, 4000.0)
        root = -1.8 * np.log10(6.9 * inverse + self.haaland)
        inverse *= 2.51
        while True:
            before = root
            root = -2 * np.log10(self.rough + inverse * root)
            if np.abs(root - before).max() < 1e-9:
                return 1 / root ** 2

    def losses(self):
        """Falls of pressure along the pipes, and their slopes by flow."""
        speeds = self.flows / self.mass_by_speed
        sizes = np.abs(speeds)
        factor = self.friction(sizes) * self.scale * sizes
        return factor * speeds, 2 * factor / self.mass_by_speed + 1.0

    def solve(self, demand, tolerance=1e-7):
        """Flows and pressures for this hour, from those of the hour before; returns the steps."""
        wanted, inner = demand[1:], self.incidence[1:]
        for step in range(60):
            fall, slope = self.losses()
            weighted = inner / slope
            matrix = weighted @ inner.T
            right = wanted - inner @ self.flows + weighted @ fall
            pressures = linalg.cho_solve(linalg.cho_factor(matrix, check_finite=False), -right, check_finite=False)
            change = -(fall + inner.T @ pressures) / slope
            self.flows += change
            if np.abs(change).max() < tolerance:
                break
        return step, pressures


def day(hour):
    return 0.7 + 0.5 * np.exp(-0.5 * ((hour % 24 - 7) / 2) ** 2) + 0.4 * np.exp(-0.5 * ((hour % 24 - 19) / 3) ** 2)


def work(hours):
    rng, rows = np.random.default_rng(7119), []
    network = Network(rng)
    for hour in range(hours):
        if hour % 96 == 0:
            network = Network(rng)
        demand = network.demand * day(hour) * rng.uniform(0.8, 1.2, HOUSES)
        steps, pressures = network.solve(demand)
        rows.append([steps, int(pressures.argmax()), np.ptp(pressures) / 1000, np.abs(network.flows).max()])
    return np.round(rows, 5)


if __name__ == "__main__":
    harness.main(work, repeats=9100)
