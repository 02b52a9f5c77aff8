# SPDX-License-Identifier: Apache-2.0
"""Principal components of a large matrix by subspace iteration: matrix products and QR decompositions."""

import numpy as np

import harness


def components(matrix, rank, rounds):
    rng = np.random.default_rng(0)
    basis, _ = np.linalg.qr(rng.normal(size=(matrix.shape[1], rank)))
    for _ in range(rounds):
        basis, _ = np.linalg.qr(matrix.T @ (matrix @ basis))
    return np.linalg.norm(matrix @ basis, axis=0)


def work(repeats):
    rng = np.random.default_rng(101)
    sizes = []
    for _ in range(repeats):
        matrix = rng.normal(size=(1500, 600)) * np.linspace(2.0, 0.1, 600)
        sizes.append(components(matrix, 20, 40))
    return sizes


if __name__ == "__main__":
    harness.main(work, repeats=66)
