# SPDX-License-Identifier: Apache-2.0
"""The temperature of plates of uneven conductivity: a sparse system, set up entry by entry and then solved."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def system(conductivity):
    n = conductivity.shape[0]
    matrix = sp.lil_matrix((n * n, n * n))
    for i in range(n):
        for j in range(n):
            k = i * n + j
            matrix[k, k] = 4.0 * conductivity[i, j] + 0.01  # waste: load
            if j > 0:
                matrix[k, k - 1] = -conductivity[i, j]  # waste: load
            if j < n - 1:
                matrix[k, k + 1] = -conductivity[i, j]  # waste: load
            if i > 0:
                matrix[k, k - n] = -conductivity[i, j]  # waste: load
            if i < n - 1:
                matrix[k, k + n] = -conductivity[i, j]  # waste: load
    return matrix.tocsc()


def system_fixed(conductivity):
    n = conductivity.shape[0]
    flat = conductivity.ravel()
    columns = np.tile(np.arange(n), n)
    left = np.where(columns > 0, -flat, 0.0)[1:]
    right = np.where(columns < n - 1, -flat, 0.0)[:-1]
    bands = [4.0 * flat + 0.01, left, right, -flat[n:], -flat[:-n]]
    return sp.diags(bands, [0, -1, 1, -n, n], format="csc")


def work(repeats, build):
    rng = np.random.default_rng(5)
    n = 60
    heat = np.zeros(n * n)
    heat[n * n // 2 + n // 2] = 1.0
    total = np.zeros(n * n)
    for _ in range(repeats):
        total += spsolve(build(1.0 + rng.random((n, n))), heat)
    return total


if __name__ == "__main__":
    harness.main(lambda n: work(n, system), lambda n: work(n, system_fixed), repeats=220)
