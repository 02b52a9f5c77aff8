# SPDX-License-Identifier: Apache-2.0
"""Smoke of chimneys: puffs drift over a town with the wind of each hour and widen; sums on a map, with numexpr."""

import numexpr
import numpy as np

import harness

GRID, SPACING = 320, 37.5
PUFF = "mass * exp(along * (x - east) ** 2 + (both * (x - east) + across * (y - north)) * (y - north))"
LONG = 1.6
CIRCLE = (-0.5, 0.0, -0.5)
DECAY = 0.92


class Town:
    """The map, of which a puff touches only a part; chimneys stand in a quarter of it."""

    def __init__(self, rng):
        self.edge = np.arange(GRID) * SPACING
        self.chimneys = rng.uniform(0.2, 0.45, (6, 2)) * GRID * SPACING
        self.strengths = rng.gamma(3, 1.0, 6)
        self.dose = np.zeros((GRID, GRID))
        self.worst = np.zeros((GRID, GRID))

    def window(self, place, reach):
        """Cells that are near enough to a place, as a slice."""
        first = max(0, int((place - reach) / SPACING))
        return slice(first, min(GRID, int((place + reach) / SPACING) + 2))

    def add(self, field, puff):
        """A puff's concentration at the ground, out to three and a half times its width."""
        east, north, width, mass, shape = puff
        rows, columns = self.window(north, 3.5 * width), self.window(east, 3.5 * width)
        if rows.start >= rows.stop or columns.start >= columns.stop:
            return
        names = {"x": self.edge[None, columns], "y": self.edge[rows, None], "east": east, "north": north,
                 "mass": mass / width ** 2}
        names |= {name: value / width ** 2 for name, value in zip(("along", "both", "across"), shape)}
        field[rows, columns] += numexpr.evaluate(PUFF, names)

    def hour(self, puffs):
        field = np.zeros((GRID, GRID))
        for puff in puffs:
            self.add(field, puff)
        self.dose += field
        np.maximum(self.worst, field, out=self.worst)
        return field


class Weather:
    """A wind that turns slowly."""

    def __init__(self, rng):
        self.rng, self.angle, self.speed = rng, float(rng.uniform(0, 1.5)), 3.0

    def blow(self):
        self.angle += float(self.rng.normal(0, 0.25))
        self.speed = max(0.5, 0.9 * self.speed + float(self.rng.normal(0.3, 0.4)))
        return self.speed * np.cos(self.angle), self.speed * np.sin(self.angle)


def ellipse(wind):
    """Factors of a puff that is longer along the wind, for one of width one."""
    angle = np.arctan2(wind[1], wind[0])
    cosine, sine = float(np.cos(angle)), float(np.sin(angle))
    thin = LONG ** 2
    return (-0.5 * (cosine ** 2 + thin * sine ** 2), (thin - 1) * sine * cosine,
            -0.5 * (sine ** 2 + thin * cosine ** 2))


def drift(puffs, wind, minutes=10):
    """All puffs move and widen; those that are thin or far away are let go."""
    shape = ellipse(wind)
    east, north = wind[0] * 60 * minutes, wind[1] * 60 * minutes
    size = GRID * SPACING
    for puff in puffs:
        x, y, width, mass = puff[0] + east, puff[1] + north, puff[2] + 55.0, puff[3] * DECAY
        if mass > 20 and -3 * width < x < size + 3 * width and -3 * width < y < size + 3 * width:
            yield x, y, width, mass, shape


def emit(town, rng):
    load = rng.uniform(0.5, 1.5, len(town.chimneys)) * town.strengths
    return [(x, y, 90.0, 4e4 * mass, CIRCLE) for (x, y), mass in zip(town.chimneys.tolist(), load.tolist())]


def day(rng, steps=72):
    town, weather, puffs = Town(rng), Weather(rng), []
    for step in range(steps):
        puffs = list(drift(puffs, weather.blow())) + emit(town, rng)
        field = town.hour(puffs)
        if step % 12 == 11:
            at = int(field.argmax())
            yield [len(puffs), at // GRID, at % GRID, round(float(field.max()), 6), round(float(town.dose.mean()), 6)]
    over = int(np.count_nonzero(town.worst > 0.5 * town.worst.max()))
    yield [over, *divmod(int(town.dose.argmax()), GRID), round(float(town.dose.max()), 5), 0]


def work(days):
    numexpr.set_num_threads(1)
    rng, rows = np.random.default_rng(7218), []
    for _ in range(days):
        rows.extend(day(rng))
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=50)
