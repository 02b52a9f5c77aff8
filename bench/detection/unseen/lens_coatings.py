# SPDX-License-Identifier: Apache-2.0
"""Coatings for lenses: layers are varied by small steps until a stack reflects as little light as it can."""

import numpy as np

import harness

# Indices of refraction depend on the wavelength alone; each trial of a thickness has them anew: loop-invariant.
CATEGORY = "loop-invariant computation"
KIND = "store"
WAVES = np.linspace(0.40, 0.75, 280)
GLASSES = {
    "BK7": ((1.03961212, 0.00600069867), (0.231792344, 0.0200179144), (1.01046945, 103.560653)),
    "SF11": ((1.73759695, 0.013188707), (0.313747346, 0.0623068142), (1.89878101, 155.23629)),
    "BAF10": ((1.5851495, 0.00926681282), (0.143559385, 0.0424489805), (1.08521269, 105.613573)),
}
FILMS = {
    "MgF2": ((0.48755108, 0.001882178), (0.39875031, 0.008951888), (2.3120353, 566.135591)),
    "SiO2": ((0.6961663, 0.0046791), (0.4079426, 0.0135121), (0.8974794, 97.934)),
    "Al2O3": ((1.4313493, 0.0052799), (0.65054713, 0.0142383), (5.3414021, 325.01783)),
    "ZrO2": ((1.347091, 0.00390694), (2.117788, 0.02779556), (9.452943, 588.0946)),
}


def sellmeier(terms):
    """Index of refraction at all wavelengths."""
    square = WAVES ** 2
    return np.sqrt(1 + sum(b * square / (square - c) for b, c in terms))


def eye():
    """How bright the eye sees each wavelength."""
    weights = np.exp(-0.5 * ((WAVES - 0.555) / 0.045) ** 2) + 0.08
    return weights / weights.sum()


def layer(index, thickness, top, bottom):
    """Applies the matrix of a layer to the admittance below it."""
    phase = 2 * np.pi * index * thickness / WAVES
    cosine, sine = np.cos(phase), 1j * np.sin(phase)
    return cosine * top + sine / index * bottom, sine * index * top + cosine * bottom


class Stack:
    def __init__(self, glass, films, rng):
        self.glass, self.films = glass, films
        self.thicknesses = rng.uniform(0.05, 0.16, len(films))

    def indices(self):
        return sellmeier(GLASSES[self.glass]), [sellmeier(FILMS[film]) for film in self.films]

    def reflection(self, thicknesses, indices):
        below, above = indices
        top, bottom = np.ones(len(WAVES), dtype=complex), below.astype(complex)
        for index, thickness in zip(above[::-1], thicknesses[::-1]):
            top, bottom = layer(index, thickness, top, bottom)
        ratio = (top - bottom) / (top + bottom)
        return ratio.real ** 2 + ratio.imag ** 2


def refine(stack, weights, rounds):
    """Coordinate by coordinate, with a step that becomes smaller when no trial was better."""
    best, step = float(stack.reflection(stack.thicknesses, stack.indices()) @ weights), 0.02
    for _ in range(rounds):
        is_better = False
        for at in range(len(stack.thicknesses)):
            for move in (step, -step):
                trial = stack.thicknesses.copy()
                trial[at] = max(0.005, trial[at] + move)
                mean = float(stack.reflection(trial, stack.indices()) @ weights)  # waste: store
                if mean < best:
                    best, stack.thicknesses, is_better = mean, trial, True
        step = step if is_better else step / 2
    return best


def refine_fixed(stack, weights, rounds):
    indices = stack.indices()
    best, step = float(stack.reflection(stack.thicknesses, indices) @ weights), 0.02
    for _ in range(rounds):
        is_better = False
        for at in range(len(stack.thicknesses)):
            for move in (step, -step):
                trial = stack.thicknesses.copy()
                trial[at] = max(0.005, trial[at] + move)
                mean = float(stack.reflection(trial, indices) @ weights)
                if mean < best:
                    best, stack.thicknesses, is_better = mean, trial, True
        step = step if is_better else step / 2
    return best


def work(stacks, refining):
    rng, weights, rows = np.random.default_rng(7110), eye(), []
    for number in range(stacks):
        films = [str(film) for film in rng.choice(list(FILMS), 4)]
        stack = Stack(list(GLASSES)[number % len(GLASSES)], films, rng)
        best = refining(stack, weights, 14)
        worst = stack.reflection(stack.thicknesses, stack.indices()).max()
        rows.append([round(best * 100, 6), round(float(worst) * 100, 6), *np.round(stack.thicknesses, 6)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, refine), lambda n: work(n, refine_fixed), repeats=400)
