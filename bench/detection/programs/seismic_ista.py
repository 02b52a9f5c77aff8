# SPDX-License-Identifier: Apache-2.0
"""Layers below ground from echoes: a sparse answer by iterative shrinkage, whose step length is found at each step."""

import numpy as np

import harness

# The step follows from the largest singular value of a matrix that does not change: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "store"
SAMPLES, LAYERS, STEPS = 70, 80, 60


def ricker(width, peak):
    """The usual wavelet of an explosion."""
    time = np.arange(-width, width + 1) / peak
    return (1.0 - 2.0 * np.square(np.pi * time)) * np.exp(-np.square(np.pi * time))


class Ground:
    def __init__(self, rng):
        self.wavelet = ricker(20, rng.uniform(9, 16))
        self.layers = np.zeros(LAYERS)
        self.layers[rng.choice(LAYERS, 7, replace=False)] = rng.normal(0, 1.0, 7)
        self.matrix = self.echoes()
        self.trace = self.matrix @ self.layers + rng.normal(0, 0.02, SAMPLES)

    def echoes(self):
        """Each layer's wavelet, at the time of its echo, weaker the deeper it lies."""
        matrix = np.zeros((SAMPLES + 60, LAYERS))
        for layer in range(LAYERS):
            start = int(layer * SAMPLES / LAYERS)
            matrix[start:start + self.wavelet.size, layer] = self.wavelet * np.exp(-layer / 200.0)
        return matrix[20:20 + SAMPLES]


def shrink(values, threshold):
    return np.sign(values) * np.maximum(np.abs(values) - threshold, 0.0)


def step_length(matrix):
    return 1.0 / np.linalg.norm(matrix, 2) ** 2


def solve(ground, penalty=0.05):
    """Beck and Teboulle's method, with momentum."""
    matrix, answer, momentum = ground.matrix, np.zeros(LAYERS), 1.0
    ahead = answer
    for _ in range(STEPS):
        length = step_length(matrix)  # waste: store
        rest = matrix @ ahead - ground.trace
        after = shrink(ahead - length * (matrix.T @ rest), length * penalty)
        grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = after + (momentum - 1.0) / grown * (after - answer)
        answer, momentum = after, grown
    return answer


def solve_fixed(ground, penalty=0.05):
    matrix, answer, momentum = ground.matrix, np.zeros(LAYERS), 1.0
    ahead, length = answer, step_length(matrix)
    for _ in range(STEPS):
        rest = matrix @ ahead - ground.trace
        after = shrink(ahead - length * (matrix.T @ rest), length * penalty)
        grown = (1.0 + np.sqrt(1.0 + 4.0 * momentum**2)) / 2.0
        ahead = after + (momentum - 1.0) / grown * (after - answer)
        answer, momentum = after, grown
    return answer


def hits(answer, truth):
    """Of the layers, how many are found within two places."""
    near = np.convolve(np.abs(answer) > 0.1, np.ones(5), mode="same") > 0
    return np.count_nonzero(near & (truth != 0.0))


def work(shots, solving):
    rng, found = np.random.default_rng(94), []
    for _ in range(shots):
        ground = Ground(rng)
        answer = solving(ground)
        misfit = np.linalg.norm(ground.matrix @ answer - ground.trace)
        found.append([hits(answer, ground.layers), misfit, np.abs(answer).sum(), np.count_nonzero(answer)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, solve), lambda n: work(n, solve_fixed), repeats=400)
