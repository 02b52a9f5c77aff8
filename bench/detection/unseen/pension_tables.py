# SPDX-License-Identifier: Apache-2.0
"""Pension fund: members pass between work, leave, illness and retirement; what each may claim is summed up."""

import bisect

import numpy as np

import harness

# Members of the same age have the same horizon, so the same power of the matrix: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
STATES = ("active", "part-time", "leave", "ill", "disabled", "left", "retired", "dead")
SHARES = (0.7, 0.82, 0.88, 0.93, 0.96)  # of members who are in the states before
AGE_OF_PENSION = 67
INTEREST = 0.017


def transitions(rng):
    """Chances to pass from a state to another within a month; the last state is final."""
    size = len(STATES)
    table = rng.dirichlet(np.full(size, 0.15), size) * 0.04
    table += np.eye(size) * 0.96
    table[-1] = 0.0
    table[-1, -1] = 1.0
    return table / table.sum(axis=1, keepdims=True)


class Member:
    def __init__(self, rng):
        self.age = int(rng.integers(22, AGE_OF_PENSION))
        self.wage = float(np.round(rng.lognormal(8.1, 0.3), 2))
        self.served = int(rng.integers(0, self.age - 20))
        self.state = bisect.bisect_right(SHARES, rng.random())
        self.is_old_plan = bool(rng.random() < 0.3)

    def months(self):
        return 12 * (AGE_OF_PENSION - self.age)

    def accrual(self):
        """Part of the wage that a year of service earns; the old plan had steps."""
        if not self.is_old_plan:
            return 0.0171 * self.served
        return sum(0.02 if year < 10 else 0.016 if year < 25 else 0.01 for year in range(self.served))


class Fund:
    def __init__(self, rng):
        self.monthly = transitions(rng)
        self.claims = np.array([1.0, 0.7, 0.9, 1.0, 1.25, 0.6, 1.0, 0.35])
        self.powers = {}

    def outlook(self, months):
        """Chances of each state after so long, from each one."""
        return np.linalg.matrix_power(self.monthly, months)  # waste: store

    def outlook_fixed(self, months):
        if months not in self.powers:
            self.powers[months] = np.linalg.matrix_power(self.monthly, months)
        return self.powers[months]

    def value(self, member, outlook):
        """Expected pension, discounted to this day."""
        chances = outlook(self, member.months())[member.state]
        discount = (1 + INTEREST) ** (-member.months() / 12)
        return 12 * member.wage * member.accrual() * float(chances @ self.claims) * discount


def bands(members, values):
    """Sums by decades of age."""
    sums = dict.fromkeys(range(2, 7), 0.0)
    for member, value in zip(members, values):
        sums[member.age // 10] += value
    return [round(sum_, 2) for sum_ in sums.values()]


def reserves(values):
    """What most, half and few of the members are owed at least."""
    ordered = sorted(values)
    return [round(ordered[len(ordered) * part // 100], 2) for part in (10, 50, 90)]


def report(fund, members, outlook):
    values = [fund.value(member, outlook) for member in members]
    return bands(members, values) + reserves(values) + [round(sum(values), 1)]


def work(funds, outlook):
    rng, rows = np.random.default_rng(7108), []
    for _ in range(funds):
        fund = Fund(rng)
        rows.append(report(fund, [Member(rng) for _ in range(900)], outlook))
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, Fund.outlook), lambda n: work(n, Fund.outlook_fixed), repeats=260)
