# SPDX-License-Identifier: Apache-2.0
"""A children's practice: where a child stands among all others of its age, from the survey's data each time."""

import numpy as np

import harness

# The survey does not change, and there are few ages; quantiles of the same numbers: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "store"
LEVELS = np.array([3, 10, 25, 50, 75, 90, 97]) / 100.0
MONTHS = 60


class Survey:
    """Heights (cm) and weights (kg) of children by month of age."""

    def __init__(self, rng, children):
        self.heights, self.weights = [], []
        for month in range(MONTHS):
            mean = 50.0 + 9.5 * np.sqrt(month) - 0.25 * month
            height = rng.normal(mean, 2.0 + 0.04 * month, children)
            self.heights.append(height)
            self.weights.append(3.4 + (height - 50.0) * 0.21 * rng.lognormal(0.0, 0.09, children))
        self.charts = {}

    def chart(self, month):
        heights = np.quantile(self.heights[month], LEVELS)  # waste: store
        weights = np.quantile(self.weights[month], LEVELS)  # waste: store
        return heights, weights

    def chart_fixed(self, month):
        if month not in self.charts:
            self.charts[month] = self.chart(month)
        return self.charts[month]


class Child:
    def __init__(self, rng):
        self.tall, self.heavy = rng.normal(0.0, 1.0), rng.normal(0.0, 1.0)
        self.visits = np.sort(rng.choice(MONTHS, size=9, replace=False))
        self.height = 50.0 + 9.5 * np.sqrt(self.visits) - 0.25 * self.visits + 2.0 * self.tall + rng.normal(0, 0.5, 9)
        self.weight = 3.4 + (self.height - 50.0) * 0.21 * np.exp(0.09 * self.heavy + rng.normal(0, 0.01, 9))


def grade(value, curve):
    return np.interp(value, curve, LEVELS, left=0.0, right=1.0)


def examine(child, chart):
    """Grades of height and weight at each visit, and whether they fall by two curves."""
    grades = np.empty((len(child.visits), 2))
    for number, month in enumerate(child.visits.tolist()):
        heights, weights = chart(month)
        grades[number] = grade(child.height[number], heights), grade(child.weight[number], weights)
    drop = (np.maximum.accumulate(grades, axis=0) - grades).max(axis=0)
    return grades, drop > 0.4


def practice(rng, chart_of):
    survey = Survey(rng, 2500)
    chart = chart_of(survey)
    grades, alarms = [], 0
    for _ in range(220):
        found, is_falling = examine(Child(rng), chart)
        grades.append(found.mean(axis=0))
        alarms += int(is_falling.any())
    return [*np.mean(grades, axis=0), np.std(grades), alarms]


def work(years, chart_of):
    rng = np.random.default_rng(87)
    return [practice(rng, chart_of) for _ in range(years)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, lambda survey: survey.chart), lambda n: work(n, lambda survey: survey.chart_fixed), repeats=22)
