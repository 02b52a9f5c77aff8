# SPDX-License-Identifier: Apache-2.0
"""Heat spreads through a plate by implicit steps; each step factorises the same sparse matrix again."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
SIZE, STEP = 48, 0.1


def laplacian(size):
    line = sp.diags([np.full(size - 1, 1.0), np.full(size, -2.0), np.full(size - 1, 1.0)], [-1, 0, 1])
    return sp.kron(line, sp.identity(size)) + sp.kron(sp.identity(size), line)


def advance(heat, matrix, steps):
    for _ in range(steps):
        solver = splu(matrix)  # waste: store
        heat = solver.solve(heat)
        heat[SIZE * SIZE // 2] += 1.0
    return heat


def advance_fixed(heat, matrix, steps):
    solver = splu(matrix)
    for _ in range(steps):
        heat = solver.solve(heat)
        heat[SIZE * SIZE // 2] += 1.0
    return heat


def work(repeats, march):
    rng = np.random.default_rng(35)
    matrix = sp.csc_matrix(sp.identity(SIZE * SIZE) - STEP * laplacian(SIZE))
    return [march(rng.random(SIZE * SIZE), matrix, 50).std() for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, advance), lambda n: work(n, advance_fixed), repeats=30)
