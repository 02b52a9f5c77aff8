# SPDX-License-Identifier: Apache-2.0
"""A noise map of a motorway, hour by hour: what distance and ground take away is computed anew for each hour."""

import numexpr
import numpy as np

import harness

# Only traffic and wind change from hour to hour. Distances, and so the losses on the way, stay as they are in the
# loop over the hours (a comprehension): loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
PIECES, HOURS = 45, 24


class Site:
    """The road as pieces, and receivers around it."""

    def __init__(self, rng, receivers):
        along = np.linspace(0.0, 1800.0, PIECES)
        self.road = np.stack([along, 220.0 * np.sin(along / 410.0)], axis=1)
        self.places = rng.uniform([-200.0, -900.0], [2000.0, 900.0], size=(receivers, 2))
        self.soft = rng.uniform(0.0, 1.0, receivers)[:, None]
        self.height = rng.choice([1.6, 4.0, 9.5], receivers)[:, None]

    def carried(self):
        """The share of the energy of each piece (columns) that arrives at each receiver (rows)."""
        dx = self.places[:, :1] - self.road[:, 0]  # waste: store
        dy = self.places[:, 1:] - self.road[:, 1]  # waste: store
        far = np.hypot(dx, dy)  # waste: store
        return numexpr.evaluate(  # waste: store
            "10 ** (-log10(far**2 + (height - 0.5)**2) - 0.0005 * far"  # waste: store
            " - soft * (0.48 - 20 / (far + 45)) * exp(-height / 6))",  # waste: store
            {"far": far, "height": self.height, "soft": self.soft})  # waste: store

    def lee(self, wind):
        """A receiver in the wind hears more."""
        side = self.places @ np.array([np.cos(wind), np.sin(wind)])
        return 1.5 * np.tanh((side - side.mean()) / 600.0)


def traffic(rng, hour):
    """Vehicles on each piece within an hour; the queue at the exit moves."""
    flow = 700.0 + 2600.0 * np.exp(-((hour - 8.0) / 2.2) ** 2) + 2300.0 * np.exp(-((hour - 17.0) / 2.8) ** 2)
    queue = 1.0 + 0.4 * np.exp(-((np.arange(PIECES) - PIECES * rng.random()) / 6.0) ** 2)
    return flow * queue


def levels(rng, site, hour, carried):
    """Decibels at each receiver of all pieces together."""
    source = 37.3 + 10.0 * np.log10(traffic(rng, hour))
    energy = carried @ 10.0 ** (source / 10.0)
    return 10.0 * np.log10(energy) + site.lee(rng.uniform(0.0, 2.0 * np.pi))


def day(rng, site):
    return np.array([levels(rng, site, hour, site.carried()) for hour in range(HOURS)])  # waste: store


def day_fixed(rng, site):
    carried = site.carried()
    return np.array([levels(rng, site, hour, carried) for hour in range(HOURS)])


def day_evening_night(heard):
    """The European index: evenings count 5 dB more, nights 10 dB."""
    extra = np.zeros(HOURS)
    extra[19:23], extra[[23, *range(7)]] = 5.0, 10.0
    return 10.0 * np.log10((10.0 ** ((heard + extra[:, None]) / 10.0)).mean(axis=0))


def work(sites, one_day):
    rng = np.random.default_rng(65)
    found = []
    for _ in range(sites):
        index = day_evening_night(one_day(rng, Site(rng, 530)))
        found.append([index.mean(), index.max(), (index > 55.0).mean()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, day), lambda n: work(n, day_fixed), repeats=220)
