# SPDX-License-Identifier: Apache-2.0
"""Floating point in pure Python: attribute-free inner loops over lists."""

from harness import run

BODIES = [([float(i), i * 0.7, -i * 0.3], [0.01 * i, -0.02, 0.005 * i], 0.5 + i) for i in range(5)]
PAIRS = [(a, b) for i, a in enumerate(BODIES) for b in BODIES[i + 1:]]


def advance(dt, steps):
    for _ in range(steps):
        for (r1, v1, m1), (r2, v2, m2) in PAIRS:
            dx, dy, dz = r1[0] - r2[0], r1[1] - r2[1], r1[2] - r2[2]
            force = dt * ((dx * dx + dy * dy + dz * dz + 0.01) ** -1.5)
            for v, m, sign in ((v1, m2, -force), (v2, m1, force)):
                v[0] += dx * m * sign
                v[1] += dy * m * sign
                v[2] += dz * m * sign
        for r, v, _ in BODIES:
            r[0] += dt * v[0]
            r[1] += dt * v[1]
            r[2] += dt * v[2]


def work(repeats):
    advance(0.001, repeats)
    return sum(r[0] for r, _, _ in BODIES)


run(work, 780_000)
