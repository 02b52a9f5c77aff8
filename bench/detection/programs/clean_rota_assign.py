# SPDX-License-Identifier: Apache-2.0
"""Rota of a hospital: shifts of each day go to nurses by the cheapest assignment, with wishes, rest and fairness."""

import numpy as np
from scipy.optimize import linear_sum_assignment

import harness

NURSES, WARDS, SHIFTS = 260, 22, 3
NEED = (4, 3, 2)
FORBIDDEN = 1e4


class Staff:
    def __init__(self, rng):
        self.skills = rng.random((NURSES, WARDS)) < 0.35
        self.skills[np.arange(NURSES), rng.integers(0, WARDS, NURSES)] = True
        self.likes = rng.normal(0, 1, (NURSES, SHIFTS))
        self.hours = np.zeros(NURSES)
        self.last = np.full(NURSES, -1)  # shift of the day before, -1 for a free day
        self.streak = np.zeros(NURSES, dtype=int)
        self.nights = np.zeros(NURSES, dtype=int)


def places():
    """Ward and shift of each place that is to be filled in a day."""
    ward = np.repeat(np.arange(WARDS), sum(NEED))
    shift = np.tile(np.repeat(np.arange(SHIFTS), NEED), WARDS)
    return ward, shift


def costs(staff, wishes, ward, shift):
    """A row for each nurse: what it costs to give a place to her."""
    by_shift = -1.5 * staff.likes - 6.0 * wishes
    by_shift[:, 2] += 1.2 * (staff.nights - staff.nights.mean())
    by_shift[staff.last == 2, :2] += FORBIDDEN
    by_shift[staff.last == 1, 0] += 8.0
    tired = 0.25 * (staff.hours - staff.hours.mean()) + np.where(staff.streak >= 5, FORBIDDEN, 0.8 * staff.streak)
    table = by_shift[:, shift]
    table += tired[:, None]
    table += np.where(staff.skills, 0.0, 30.0)[:, ward]
    return table


def book(staff, nurses, chosen, shift):
    free = np.ones(NURSES, dtype=bool)
    free[nurses] = False
    staff.streak[nurses] += 1
    staff.streak[free] = 0
    staff.last[free] = -1
    staff.last[nurses] = shift[chosen]
    staff.hours[nurses] += np.where(shift[chosen] == 2, 10, 8)
    staff.nights[nurses] += shift[chosen] == 2


def work(days):
    rng, rows = np.random.default_rng(651), []
    staff, (ward, shift) = Staff(rng), places()
    for _ in range(days):
        wishes = rng.random((NURSES, SHIFTS)) < 0.15
        table = costs(staff, wishes, ward, shift)
        nurses, chosen = linear_sum_assignment(table)
        paid = table[nurses, chosen]
        broken = np.count_nonzero(paid >= FORBIDDEN / 2)
        strange = np.count_nonzero(~staff.skills[nurses, ward[chosen]])
        granted = np.count_nonzero(wishes[nurses, shift[chosen]])
        book(staff, nurses, chosen, shift)
        rows.append([paid[paid < FORBIDDEN / 2].sum(), broken, strange, granted, np.ptp(staff.hours)])
    return np.round(rows, 6)


if __name__ == "__main__":
    harness.main(work, repeats=600)
