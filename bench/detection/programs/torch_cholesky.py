# SPDX-License-Identifier: Apache-2.0
"""Gaussian processes on small sets of points; the Cholesky factor is made element by element (PieProf, table 2:
Cholesky)."""

import torch

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def cholesky(matrix):
    n = matrix.shape[0]
    factor = torch.zeros_like(matrix)
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i, j].clone()  # waste: load
            for k in range(j):
                rest -= factor[i, k] * factor[j, k]  # waste: load
            factor[i, j] = torch.sqrt(rest) if i == j else rest / factor[j, j]  # waste: load
    return factor


def cholesky_fixed(matrix):
    n = matrix.shape[0]
    factor = torch.zeros_like(matrix)
    for j in range(n):
        column = matrix[j:, j] - factor[j:, :j] @ factor[j, :j]
        factor[j:, j] = column / torch.sqrt(column[0])
    return factor


def posterior_mean(points, values, queries, factorise):
    kernel = torch.exp(-((points[:, None] - points[None, :]) ** 2)) + 0.1 * torch.eye(len(points), dtype=points.dtype)
    factor = factorise(kernel)
    weights = torch.cholesky_solve(values[:, None], factor)
    return torch.exp(-((queries[:, None] - points[None, :]) ** 2)) @ weights


def work(repeats, factorise):
    torch.manual_seed(4)
    queries = torch.linspace(-3.0, 3.0, 200, dtype=torch.float64)
    total = torch.zeros(200, 1, dtype=torch.float64)
    for _ in range(repeats):
        points = torch.randn(30, dtype=torch.float64)
        total += posterior_mean(points, torch.sin(points), queries, factorise)
    return total.numpy()


if __name__ == "__main__":
    harness.main(lambda n: work(n, cholesky), lambda n: work(n, cholesky_fixed), repeats=300)
