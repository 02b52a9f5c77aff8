# SPDX-License-Identifier: Apache-2.0
"""Differential evolution on Rosenbrock's function, whose sum is made term by term with NumPy's functions (PieProf,
listing 5: Metaheuristics, CEC_4)."""

import numpy as np

import harness

CATEGORY = "API misuse"
KIND = "load"
DIMENSIONS, POPULATION = 30, 40


def rosenbrock(x):
    res = 0.0
    for i in range(len(x) - 1):
        res += 100 * np.square(x[i] ** 2 - x[i + 1]) + np.square(x[i] - 1)  # waste: load
    return res


def rosenbrock_fixed(x):
    return np.sum(100 * np.square(x[:-1] ** 2 - x[1:]) + np.square(x[:-1] - 1))


def candidate(rng, population, i):
    """Another place for the i-th one: a mixture of itself and of three others."""
    a, b, c = rng.choice(POPULATION, size=3, replace=False)
    mutant = population[a] + 0.6 * (population[b] - population[c])
    return np.where(rng.random(DIMENSIONS) < 0.8, mutant, population[i])


def evolve(repeats, function):
    rng = np.random.default_rng(8)
    population = rng.uniform(-5.0, 5.0, size=(POPULATION, DIMENSIONS))
    costs = np.array([function(x) for x in population])
    for _ in range(repeats):
        for i in range(POPULATION):
            x = candidate(rng, population, i)
            cost = function(x)
            if cost < costs[i]:
                population[i], costs[i] = x, cost
    return np.round(np.log10(costs), 4)


if __name__ == "__main__":
    harness.main(lambda n: evolve(n, rosenbrock), lambda n: evolve(n, rosenbrock_fixed), repeats=3800)
