# SPDX-License-Identifier: Apache-2.0
"""Where comets stand: Kepler's equation for each of them by Newton's method, to 60 digits; no two orbits are alike.

Sine and cosine are summed as series, together, until a term no longer counts.
"""

import random
from decimal import Decimal, getcontext, localcontext

import harness

DIGITS = 60
LEAST, BOUND = Decimal(10) ** -(DIGITS + 3), Decimal(10) ** -(DIGITS - 5)
PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534")


def sine_and_cosine(angle):
    negative, term, n = -angle * angle, Decimal(1), 1
    sine, cosine = angle, Decimal(1)
    odd = angle
    while abs(term) > LEAST:
        term *= negative / (n * (n + 1))
        cosine += term
        odd *= negative / ((n + 1) * (n + 2))
        sine += odd
        n += 2
    return sine, cosine


def anomaly(mean, eccentricity):
    """The eccentric anomaly, and in how many steps it was found."""
    found = mean + eccentricity / 2
    for steps in range(1, 31):
        sine, cosine = sine_and_cosine(found)
        change = (found - eccentricity * sine - mean) / (1 - eccentricity * cosine)
        found -= change
        if abs(change) < BOUND:
            break
    return found, steps


def comet(rng):
    """Mean anomaly and eccentricity."""
    mean = PI * rng.randrange(10**8, 10**9) / 10**9
    return mean, Decimal(rng.randrange(10**9)) / (2 * 10**9)


def work(repeats):
    rng = random.Random(503)
    found = []
    with localcontext():
        getcontext().prec = DIGITS + 6
        for _ in range(repeats):
            angle, steps = anomaly(*comet(rng))
            found.append([float(angle), steps])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=25_000)
