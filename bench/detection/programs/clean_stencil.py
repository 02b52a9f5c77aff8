# SPDX-License-Identifier: Apache-2.0
"""A chemical reaction that forms patterns (Gray and Scott): a stencil, written with slices of whole arrays."""

import numpy as np

import harness

SIZE = 256


def laplacian(field):
    return field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4.0 * field[1:-1, 1:-1]


def work(repeats):
    rng = np.random.default_rng(103)
    u, v = np.ones((SIZE, SIZE)), np.zeros((SIZE, SIZE))
    v[100:150, 100:150] = 0.5 + 0.1 * rng.random((50, 50))
    for _ in range(repeats):
        inner_u, inner_v = u[1:-1, 1:-1], v[1:-1, 1:-1]
        reaction = inner_u * inner_v * inner_v
        change_u = 0.16 * laplacian(u) - reaction + 0.035 * (1.0 - inner_u)
        change_v = 0.08 * laplacian(v) + reaction - 0.1 * inner_v
        inner_u += change_u
        inner_v += change_v
    return [u.mean(), v.mean()]


if __name__ == "__main__":
    harness.main(work, repeats=8000)
