# SPDX-License-Identifier: Apache-2.0
"""Waves on a membrane that never come to rest: a stencil, written with slices of whole arrays."""

import numpy as np

import harness

SIZE = 256


def laplacian(field):
    return field[:-2, 1:-1] + field[2:, 1:-1] + field[1:-1, :-2] + field[1:-1, 2:] - 4.0 * field[1:-1, 1:-1]


def work(repeats):
    rng = np.random.default_rng(103)
    before, now = np.zeros((SIZE, SIZE)), np.zeros((SIZE, SIZE))
    now[1:-1, 1:-1] = 0.1 * rng.normal(size=(SIZE - 2, SIZE - 2))
    before[:] = now
    speed_squared = 0.15 + 0.1 * rng.random((SIZE - 2, SIZE - 2))
    for _ in range(repeats):
        inner, old = now[1:-1, 1:-1], before[1:-1, 1:-1]
        old[:] = 2.0 * inner - old + speed_squared * laplacian(now)
        before, now = now, before
    return [now.mean(), now.std(), np.abs(now - before).max()]


if __name__ == "__main__":
    harness.main(work, repeats=9500)
