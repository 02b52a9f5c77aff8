# SPDX-License-Identifier: Apache-2.0
"""Orbits of space debris; what would be logged for debugging is made into text, although nobody listens."""

import logging

import numpy as np

import harness

# logger.debug() formats its arguments only if the message is wanted, unless they come as finished text: API misuse.
CATEGORY = "API misuse"
KIND = "store"
logger = logging.getLogger("debris")
logger.addHandler(logging.NullHandler())
logger.setLevel(logging.WARNING)
MU, RADIUS, J2 = 398600.4418, 6378.137, 1.08262668e-3


def pieces(rng, count):
    """Places (km) and speeds (km/s) on near-circular orbits."""
    height = RADIUS + rng.uniform(400, 1200, count)
    angle, tilt = rng.uniform(0, 2 * np.pi, count), rng.uniform(0, np.pi, count)
    places = height * np.stack([np.cos(angle), np.sin(angle) * np.cos(tilt), np.sin(angle) * np.sin(tilt)])
    speeds = np.sqrt(MU / height) * np.stack([-np.sin(angle), np.cos(angle) * np.cos(tilt), np.cos(angle) * np.sin(tilt)])
    return places, speeds * rng.uniform(0.98, 1.02, count)


def acceleration(places):
    square = np.square(places).sum(axis=0)
    distance = np.sqrt(square)
    bulge = 1.5 * J2 * RADIUS**2 / square
    flat = 5.0 * np.square(places[2]) / square
    factors = np.stack([1.0 + bulge * (1.0 - flat), 1.0 + bulge * (1.0 - flat), 1.0 + bulge * (3.0 - flat)])
    return -MU / (square * distance) * places * factors


class Propagator:
    def __init__(self, places, speeds, step_s, report):
        self.places, self.speeds, self.step_s = places, speeds, step_s
        self.time_s, self.report = 0.0, report
        self.lowest = np.linalg.norm(places, axis=0)

    def step(self):
        """Runge and Kutta's method."""
        h, x, v = self.step_s, self.places, self.speeds
        a1 = acceleration(x)
        v2 = v + 0.5 * h * a1
        a2 = acceleration(x + 0.5 * h * v)
        v3 = v + 0.5 * h * a2
        a3 = acceleration(x + 0.5 * h * v2)
        v4 = v + h * a3
        a4 = acceleration(x + h * v3)
        self.places = x + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
        self.speeds = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
        self.time_s += h
        np.minimum(self.lowest, np.linalg.norm(self.places, axis=0), out=self.lowest)
        self.report(self)


def report(state):
    logger.debug(f"t={state.time_s:.0f} s: places {state.places[:, :12]}, speeds {state.speeds[:, :12]}")  # waste: store
    if state.lowest.min() < RADIUS:
        logger.info("something came down")


def report_fixed(state):
    logger.debug("t=%.0f s: places %s, speeds %s", state.time_s, state.places[:, :12], state.speeds[:, :12])
    if state.lowest.min() < RADIUS:
        logger.info("something came down")


def work(clouds, reporting):
    rng, found = np.random.default_rng(83), []
    for _ in range(clouds):
        state = Propagator(*pieces(rng, 60), 20.0, reporting)
        for _ in range(300):
            state.step()
        found.append([state.lowest.min() / RADIUS, np.abs(state.speeds).mean(), state.time_s])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, report), lambda n: work(n, report_fixed), repeats=96)
