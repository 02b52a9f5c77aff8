# SPDX-License-Identifier: Apache-2.0
"""The electric field of boards with ever other charges: Poisson's equation by cycles over finer and coarser grids.

Red and black points take turns, so everything is done in place with slices. It runs for 60 seconds.
"""

import numpy as np

import harness

SIDE = 257


def relax(potential, source):
    """One sweep of Gauss and Seidel's method. Points of one colour at a time."""
    for row, column in ((1, 1), (2, 2), (1, 2), (2, 1)):
        inner = np.s_[row:-1:2, column:-1:2]
        around = potential[row - 1 : -2 : 2, column:-1:2] + potential[row + 1 :: 2, column:-1:2]
        around += potential[row:-1:2, column - 1 : -2 : 2]
        around += potential[row:-1:2, column + 1 :: 2]
        around -= source[inner]
        around *= 0.25
        potential[inner] = around


def residual(potential, source):
    left = np.zeros_like(potential)
    inner = left[1:-1, 1:-1]
    np.multiply(potential[1:-1, 1:-1], 4.0, out=inner)
    inner -= potential[:-2, 1:-1] + potential[2:, 1:-1]
    inner -= potential[1:-1, :-2] + potential[1:-1, 2:]
    inner += source[1:-1, 1:-1]
    return left


def coarser(fine):
    """Every second point, with a share of its neighbours, times the square of the coarser grid's step."""
    coarse = np.zeros((fine.shape[0] // 2 + 1, fine.shape[1] // 2 + 1))
    rows = fine[1:-2:2] + 2.0 * fine[2:-1:2] + fine[3::2]
    coarse[1:-1, 1:-1] = (rows[:, 1:-2:2] + 2.0 * rows[:, 2:-1:2] + rows[:, 3::2]) / 4.0
    return coarse


def add_finer(fine, coarse):
    fine[::2, ::2] += coarse
    fine[1::2, ::2] += 0.5 * (coarse[:-1] + coarse[1:])
    across = 0.5 * (coarse[:, :-1] + coarse[:, 1:])
    fine[::2, 1::2] += across
    fine[1::2, 1::2] += 0.5 * (across[:-1] + across[1:])


def cycle(potential, source):
    """A V-cycle."""
    relax(potential, source)
    if len(potential) > 9:
        rest = coarser(residual(potential, source))
        change = np.zeros_like(rest)
        cycle(change, rest)
        add_finer(potential, change)
    else:
        for _ in range(10):
            relax(potential, source)
    relax(potential, source)


def solved(source):
    """The potential, and after how many cycles it was good enough."""
    source = source / (SIDE - 1) ** 2
    potential = np.zeros_like(source)
    bound = 1e-7 * np.abs(source).max()
    for count in range(1, 40):
        cycle(potential, source)
        if np.abs(residual(potential, source)).max() < bound:
            break
    return potential, count


def work(repeats):
    rng = np.random.default_rng(509)
    found = []
    for _ in range(repeats):
        source = rng.normal(size=(SIDE, SIDE))
        potential, count = solved(source)
        found.append([potential.mean(), potential.max(), count])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1570)
