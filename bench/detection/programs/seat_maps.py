# SPDX-License-Identifier: Apache-2.0
"""A theatre sells seats: for each evening the prices of the hall are set seat by seat, then groups are placed."""

import numpy as np

import harness

# The price is an outer product of rows and columns plus a term that is known beforehand: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "store"
ROWS, SEATS = 34, 46
MIDDLE = (SEATS - 1) / 2
AISLES = (11, 34)


class Evening:
    def __init__(self, rng):
        self.demand = float(rng.uniform(0.6, 1.5))
        self.base = float(rng.choice((28.0, 39.0, 55.0)))
        rows = np.arange(ROWS)
        self.row_factor = 1.6 - 0.9 * np.abs(rows - 6) / ROWS
        self.side_factor = 1.0 - 0.012 * np.abs(np.arange(SEATS) - MIDDLE)
        self.taken = rng.random((ROWS, SEATS)) < 0.15 * self.demand
        self.groups = rng.choice((1, 2, 2, 2, 3, 4, 4, 6), 90)
        self.purses = rng.gamma(6, 9, 90)


def prices(evening):
    table = np.zeros((ROWS, SEATS))
    for row in range(ROWS):
        for seat in range(SEATS):
            factor = evening.row_factor[row] * evening.side_factor[seat]
            table[row, seat] = round(evening.base * evening.demand * factor, 1)  # waste: store
    return table


def prices_fixed(evening):
    factor = evening.row_factor[:, None] * evening.side_factor
    return np.round(evening.base * evening.demand * factor, 1)


def blocks(free, size):
    """A one where that many seats side by side are free, without an aisle between them."""
    open_part = free[:, :SEATS - size + 1].copy()
    for step in range(1, size):
        open_part &= free[:, step:SEATS - size + 1 + step]
    for aisle in AISLES:
        open_part[:, max(0, aisle - size + 1):aisle] = False
    return open_part


def place(evening, table):
    """Each group takes the dearest seats that it can pay; the sum of a block is a difference of running sums."""
    free = ~evening.taken
    sums = np.zeros((ROWS, SEATS + 1))
    np.cumsum(table, axis=1, out=sums[:, 1:])
    sold, income, sent_away = 0, 0.0, 0
    for size, purse in zip(evening.groups.tolist(), evening.purses.tolist()):
        cost = sums[:, size:] - sums[:, :SEATS - size + 1]
        worth = np.where(blocks(free, size) & (cost <= size * purse), cost, -1.0)
        best = int(worth.argmax())
        row, seat = divmod(best, SEATS - size + 1)
        if worth[row, seat] < 0:
            sent_away += 1
            continue
        free[row, seat:seat + size] = False
        sold += size
        income += float(worth[row, seat])
    return sold, round(income, 2), sent_away, free


def lonely(free):
    """Free seats between two taken ones, which are hard to sell."""
    return int(np.count_nonzero(free[:, 1:-1] & ~free[:, :-2] & ~free[:, 2:]))


def work(evenings, pricing):
    rng, rows = np.random.default_rng(636), []
    for _ in range(evenings):
        evening = Evening(rng)
        table = pricing(evening)
        sold, income, sent_away, free = place(evening, table)
        rows.append([sold, income, sent_away, lonely(free), table.max(), round(float(table.mean()), 6)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, prices), lambda n: work(n, prices_fixed), repeats=1000)
