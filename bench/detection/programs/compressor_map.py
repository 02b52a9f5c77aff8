# SPDX-License-Identifier: Apache-2.0
"""A turbocharger's run: the curves of its map are lists, so that NumPy turns them into arrays at each interpolation."""

import math
import random

import numpy as np

import harness

CATEGORY = "repeated native calls"
KIND = "store"


class Curve:
    def __init__(self, function, low, high, count=600):
        self.places = [low + (high - low) * n / (count - 1) for n in range(count)]
        self.values = [function(place) for place in self.places]

    def at(self, place):
        return float(np.interp(place, self.places, self.values))  # waste: store


class FixedCurve(Curve):
    def __init__(self, *shape):
        super().__init__(*shape)
        self.places, self.values = np.array(self.places), np.array(self.values)


class Turbocharger:
    """Air flow in kg/s, speed in thousands of turns a minute."""

    def __init__(self, curve):
        self.pressure = curve(lambda flow: 1.0 + 2.2 * math.sin(min(3.1, 9.0 * flow)), 0.0, 0.4)
        self.efficiency = curve(lambda flow: 0.78 - 6.0 * (flow - 0.17) ** 2, 0.0, 0.4)
        self.friction = curve(lambda speed: 0.02 * speed + 1e-5 * speed**2.4, 0.0, 240.0)
        self.speed, self.flow = 40.0, 0.05

    def boost(self):
        return self.pressure.at(self.flow) * (self.speed / 120.0) ** 2

    def load(self):
        """Torque that the compressor and the bearings take."""
        return self.flow * self.boost() * 40.0 / self.efficiency.at(self.flow) + self.friction.at(self.speed)

    def step(self, gas, seconds=0.01):
        self.speed += seconds * (90.0 * gas - 9.0 * self.load())
        self.speed = min(max(self.speed, 5.0), 235.0)
        self.flow += seconds * (0.001 * self.speed + 0.02 * gas - 0.6 * self.flow)
        self.flow = min(max(self.flow, 0.01), 0.39)


def drive(rng, steps):
    """The pedal, between 0 and 1."""
    pedal = 0.3
    for _ in range(steps):
        pedal = min(1.0, max(0.0, pedal + rng.gauss(0.0, 0.05)))
        yield pedal


def work(repeats, curve):
    rng = random.Random(1905)
    charger, found = Turbocharger(curve), []
    for _ in range(repeats):
        for pedal in drive(rng, 500):
            charger.step(pedal)
        found.append([charger.speed, charger.flow, charger.boost()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Curve), lambda n: work(n, FixedCurve), repeats=100)
