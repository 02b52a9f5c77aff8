# SPDX-License-Identifier: Apache-2.0
"""Flow past pillars in a channel by the lattice Boltzmann method: whole arrays, moved and mixed at each step."""

import numpy as np

import harness

WAYS = np.array([(0, 0), (1, 0), (0, 1), (-1, 0), (0, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)])
WEIGHTS = np.array([4 / 9] + [1 / 9] * 4 + [1 / 36] * 4)
BACK = [0, 3, 4, 1, 2, 7, 8, 5, 6]
WIDE, HIGH = 150, 60


class Channel:
    def __init__(self, rng, speed, viscosity):
        self.relax = 1.0 / (3.0 * viscosity + 0.5)
        x, y = np.meshgrid(np.arange(WIDE), np.arange(HIGH), indexing="ij")
        self.wall = (y == 0) | (y == HIGH - 1)
        for _ in range(3):
            at, radius = rng.uniform((20, 10), (70, HIGH - 10)), rng.uniform(3, 6)
            self.wall |= np.square(x - at[0]) + np.square(y - at[1]) < radius**2
        self.speed = speed
        self.inlet = speed * (1.0 + 0.02 * np.sin(2 * np.pi * np.arange(HIGH) / HIGH + rng.uniform(0, 6)))
        flow = np.zeros((2, WIDE, HIGH))
        flow[0] = self.inlet
        self.density = np.ones((WIDE, HIGH))
        self.mixed = equilibrium(self.density, flow)
        self.parts = self.mixed.copy()
        self.flow = flow

    def step(self):
        self.collide()
        for number, (dx, dy) in enumerate(WAYS.tolist()):
            self.parts[number] = np.roll(self.mixed[number], (dx, dy), axis=(0, 1))
        self.parts[[3, 6, 7], -1] = self.parts[[3, 6, 7], -2]

    def collide(self):
        self.density = self.parts.sum(axis=0)
        self.flow = np.tensordot(WAYS.T.astype(float), self.parts, axes=1) / self.density
        self.flow[0, 0], self.flow[1, 0] = self.inlet, 0.0
        rest = equilibrium(self.density, self.flow)
        np.subtract(rest, self.parts, out=self.mixed)
        self.mixed *= self.relax
        self.mixed += self.parts
        self.mixed[:, 0] = rest[:, 0]
        self.mixed[:, self.wall] = self.parts[BACK][:, self.wall]

    def swirl(self):
        return np.gradient(self.flow[1], axis=0) - np.gradient(self.flow[0], axis=1)


def equilibrium(density, flow):
    along = np.tensordot(WAYS.astype(float), flow, axes=1)
    square = 1.5 * np.square(flow).sum(axis=0)
    return WEIGHTS[:, None, None] * density * (1.0 + 3.0 * along + 4.5 * np.square(along) - square)


def work(channels):
    rng, found = np.random.default_rng(109), []
    for _ in range(channels):
        channel = Channel(rng, rng.uniform(0.04, 0.08), rng.uniform(0.02, 0.05))
        for _ in range(300):
            channel.step()
        swirl = channel.swirl()[~channel.wall]
        found.append([np.abs(swirl).mean(), channel.density.std(), channel.flow[0].max()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=10)
