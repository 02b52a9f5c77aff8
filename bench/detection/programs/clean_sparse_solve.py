# SPDX-License-Identifier: Apache-2.0
"""Systems of a plate with different loads and materials, solved by conjugate gradients."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import cg

import harness

SIZE = 150


def stencil():
    line = sp.diags([-np.ones(SIZE - 1), 2.0 * np.ones(SIZE), -np.ones(SIZE - 1)], [-1, 0, 1])
    return sp.csr_matrix(sp.kron(line, sp.identity(SIZE)) + sp.kron(sp.identity(SIZE), line))


def plate(rng, matrix):
    stiffness = 1.0 + rng.random(SIZE * SIZE)
    return sp.csr_matrix(matrix + sp.diags(0.01 * stiffness))


def work(repeats):
    rng = np.random.default_rng(109)
    matrix = stencil()
    bends = []
    for _ in range(repeats):
        bend, _ = cg(plate(rng, matrix), rng.random(SIZE * SIZE), maxiter=200)
        bends.append(bend.max())
    return bends


if __name__ == "__main__":
    harness.main(work, repeats=340)
