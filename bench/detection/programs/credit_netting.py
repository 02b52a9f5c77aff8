# SPDX-License-Identifier: Apache-2.0
"""Netting of debts between banks: each pair's amounts are looked up one by one in a sparse matrix."""

import numpy as np
import scipy.sparse

import harness

# The matrix takes arrays of rows and columns as an index, so all pairs could be one selection: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
BANKS = 700


class Market:
    """Payments of a day, by who owes whom."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.size = self.rng.pareto(1.3, BANKS) + 0.2
        self.weights = self.size / self.size.sum()

    def payments(self, count):
        debtor, creditor = self.rng.choice(BANKS, p=self.weights, size=(2, count))
        amount = self.rng.lognormal(2.0, 1.1, size=count).round(2)
        other = debtor != creditor
        return debtor[other], creditor[other], amount[other]


def ledger(debtor, creditor, amount):
    """Sums of the payments, one element for each debtor and creditor."""
    owed = scipy.sparse.coo_matrix((amount, (debtor, creditor)), shape=(BANKS, BANKS)).tocsr()
    owed.sum_duplicates()
    return owed


def mutual(owed):
    """Pairs of banks that owe each other something, each pair once."""
    both = owed.astype(bool).multiply(owed.T.astype(bool)).tocoo()
    upper = both.row < both.col
    return both.row[upper], both.col[upper]


def amounts(owed, rows, columns):
    return np.array([owed[row, column] for row, column in zip(rows, columns)])  # waste: load


def amounts_fixed(owed, rows, columns):
    return np.asarray(owed[rows, columns]).ravel()


def net(owed, look_up):
    """The ledger after pairs have set their debts off; what that took away."""
    rows, columns = mutual(owed)
    forth, back = look_up(owed, rows, columns), look_up(owed, columns, rows)
    common = np.minimum(forth, back)
    offset = scipy.sparse.coo_matrix(
        (np.concatenate([common, common]), (np.concatenate([rows, columns]), np.concatenate([columns, rows]))),
        shape=owed.shape)
    return (owed - offset.tocsr()).tocsr(), 2.0 * common.sum()


def exposure(owed):
    """Net position of each bank: what it is owed less what it owes."""
    return np.asarray(owed.sum(axis=0)).ravel() - np.asarray(owed.sum(axis=1)).ravel()


def work(days, look_up):
    market = Market(2008)
    found = []
    for _ in range(days):
        owed = ledger(*market.payments(6_000))
        before = exposure(owed)
        owed, taken = net(owed, look_up)
        after = exposure(owed)
        found.append([taken, owed.sum(), np.abs(before - after).max() < 1e-6, after.max()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, amounts), lambda n: work(n, amounts_fixed), repeats=600)
