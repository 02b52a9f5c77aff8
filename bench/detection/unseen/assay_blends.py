# SPDX-License-Identifier: Apache-2.0
"""Ore blends: shares of stockpiles that give the wanted assay, by elimination that keeps rank and determinant."""

import numpy as np

import harness

# A row of the matrix is subtracted from another in one operation on slices: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
PILES = 22
ELEMENTS = ("Fe", "Si", "Al", "P", "Mn", "S")
TINY = 1e-10


def stockpiles(rng):
    """Assays of the piles by element, and how well the piles mix with each other."""
    assays = rng.dirichlet(np.full(len(ELEMENTS), 2.5), PILES)
    mixing = rng.normal(0, 0.05, (PILES, PILES))
    mixing = mixing @ mixing.T + np.eye(PILES)
    if rng.random() < 0.1:
        mixing[-1] = mixing[0]  # the same pile, booked twice
        mixing[:, -1] = mixing[:, 0]
    return assays, mixing


def subtract(table, row, pivot, factor):
    for column in range(pivot, table.shape[1]):
        table[row, column] -= factor * table[pivot, column]  # waste: load


def subtract_fixed(table, row, pivot, factor):
    table[row, pivot:] -= factor * table[pivot, pivot:]


def swap(table, one, other):
    table[[one, other]] = table[[other, one]]


def eliminate(table, subtracting):
    """The table in echelon form, in place; rank, sign and logarithm of the determinant."""
    size, rank, sign, size_of = len(table), 0, 1, 0.0
    for pivot in range(size):
        best = pivot + int(np.abs(table[pivot:, pivot]).argmax())
        if abs(table[best, pivot]) < TINY:
            continue
        if best != pivot:
            swap(table, pivot, best)
            sign = -sign
        rank += 1
        size_of += float(np.log(abs(table[pivot, pivot])))
        factors = (table[pivot + 1:, pivot] / table[pivot, pivot]).tolist()
        for row, factor in enumerate(factors, pivot + 1):
            if factor:
                subtracting(table, row, pivot, factor)
    return rank, sign, size_of


def substitute(table):
    """Unknowns from the last to the first; what has no pivot is left out of the blend."""
    size = len(table)
    shares = np.zeros(size)
    for row in range(size - 1, -1, -1):
        if abs(table[row, row]) >= TINY:
            shares[row] = (table[row, size] - table[row, row + 1:size] @ shares[row + 1:]) / table[row, row]
    return shares


def wanted(assays, rng):
    """What the works asked for: the assay of a blend, with some noise."""
    order = rng.dirichlet(np.ones(PILES)) @ assays
    order += rng.normal(0, 0.002, len(ELEMENTS))
    return np.clip(order, 0, None) / order.sum()


def limits(assays, shares):
    """How far each element is from a tenth over the mean of the piles."""
    blend = np.clip(shares, 0, None)
    blend /= blend.sum() or 1.0
    return blend @ assays - 1.1 * assays.mean(axis=0)


def report(rng, subtracting):
    assays, mixing = stockpiles(rng)
    target = assays @ wanted(assays, rng)
    table = np.column_stack([mixing, target])
    rank, sign, size_of = eliminate(table, subtracting)
    shares = substitute(table)
    order = np.argsort(shares, kind="stable")[::-1][:3]
    return [rank, sign, round(size_of, 6), *order, *np.round(shares[order], 7), *np.round(limits(assays, shares), 7)]


def work(blends, subtracting):
    rng = np.random.default_rng(7102)
    return [report(rng, subtracting) for _ in range(blends)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, subtract), lambda n: work(n, subtract_fixed), repeats=4100)
