# SPDX-License-Identifier: Apache-2.0
"""Astronomical clocks: trains of wheels are sought whose ratio comes as near to a period as teeth allow."""

import fractions
import random

import harness

# Divisors come in pairs on both sides of the square root, beyond which no search is needed: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
SMALLEST, LARGEST = 12, 150
MONTH, YEAR = 29.530588, 365.242190
BODIES = {"moon": MONTH, "sun": YEAR, "mercury": 115.88, "venus": 583.92, "mars": 779.94, "jupiter": 398.88}


def convergents(value):
    """Fractions that are nearer than any with a smaller denominator."""
    whole, rest = int(value), value - int(value)
    before, now = (1, 0), (whole, 1)
    while True:
        yield fractions.Fraction(*now)
        if rest < 1e-9:
            return
        whole = int(1 / rest)
        rest = 1 / rest - whole
        before, now = now, (whole * now[0] + before[0], whole * now[1] + before[1])


def between(value, rng, count):
    """Fractions that lie near the value, sums of two neighbours among them."""
    found = []
    for near in convergents(value):
        if near.denominator > 900:
            break
        found.append(near)
    for _ in range(count):
        low, high = rng.sample(found, 2)
        found.append(fractions.Fraction(low.numerator + high.numerator, low.denominator + high.denominator))
    return sorted(set(found), key=lambda near: (abs(float(near) - value), near.denominator))


def divisors(number):
    return [part for part in range(1, number + 1) if number % part == 0]  # waste: load


def divisors_fixed(number):
    small, large, part = [], [], 1
    while part * part <= number:
        if number % part == 0:
            small.append(part)
            if part * part < number:
                large.append(number // part)
        part += 1
    return small + large[::-1]


def wheels(number, parts, dividing):
    """The most even product of a given number of wheels; None if there is none."""
    if parts == 1:
        return (number,) if SMALLEST <= number <= LARGEST else None
    best = None
    for wheel in dividing(number):
        if SMALLEST <= wheel <= LARGEST:
            rest = wheels(number // wheel, parts - 1, dividing)
            if rest and (best is None or max(wheel, *rest) < max(best)):
                best = wheel, *rest
    return best


def train(near, dividing):
    """Drivers and driven wheels for a ratio, which may be multiplied on both sides."""
    for factor in (1, 4, 12, 20, 36):
        above, below = near.numerator * factor, near.denominator * factor
        if max(above, below) > LARGEST ** 2:
            return None
        driven, drivers = wheels(above, 2, dividing), wheels(below, 2, dividing)
        if driven and drivers:
            return drivers, driven
    return None


def seek(rng, ratio, dividing):
    """The nearest ratio that can be cut, and how many were tried before."""
    for tried, near in enumerate(between(ratio, rng, 10)):
        if found := train(near, dividing):
            drivers, driven = found
            return [tried, sum(drivers), sum(driven), near.denominator, round(float(near) - ratio, 9)]
    return [-1, 0, 0, 0, 0.0]


def teeth_by_body(rows):
    return [sum(row[1] + row[2] for row in rows[at::len(BODIES)]) for at in range(len(BODIES))]


def work(clocks, dividing):
    rng, rows = random.Random(7211), []
    for _ in range(clocks):
        hours = rng.uniform(0.8, 3.0)
        for days in BODIES.values():
            rows.append(seek(rng, (days / hours) ** 0.4, dividing))
    return rows + [teeth_by_body(rows)[:5]]


if __name__ == "__main__":
    harness.main(lambda n: work(n, divisors), lambda n: work(n, divisors_fixed), repeats=530)
