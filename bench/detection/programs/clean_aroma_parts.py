# SPDX-License-Identifier: Apache-2.0
"""Takes spectra of aromas apart into a few substances: nonnegative factors, updated until they stand still."""

import numpy as np

import harness

SUBSTANCES, CHANNELS = 8, 300


def spectra(rng, samples):
    channel = np.arange(CHANNELS)
    pure = np.zeros((SUBSTANCES, CHANNELS))
    for k in range(SUBSTANCES):
        for centre in rng.uniform(0, CHANNELS, size=6):
            pure[k] += rng.gamma(2.0) * np.exp(-(((channel - centre) / rng.uniform(2.0, 8.0)) ** 2))
    share = rng.gamma(0.6, size=(samples, SUBSTANCES))
    return share @ pure + rng.gamma(1.0, 0.02, size=(samples, CHANNELS))


def factors(rng, values, most=3_000):
    """Of values, about share @ pure; the relative error and the number of updates."""
    share = rng.random((len(values), SUBSTANCES))
    pure = rng.random((SUBSTANCES, CHANNELS))
    square, error = np.vdot(values, values), np.inf
    for step in range(most):
        pure *= (share.T @ values) / (share.T @ share @ pure + 1e-12)
        gram, cross = pure @ pure.T, values @ pure.T
        share *= cross / (share @ gram + 1e-12)
        if step % 20 == 0:
            before = error
            rest = square - 2.0 * np.vdot(cross, share) + np.vdot(share.T @ share, gram)
            error = (max(rest, 0.0) / square) ** 0.5
            if before - error < 1e-6:
                break
    return error, step


def work(repeats):
    rng = np.random.default_rng(1999)
    return [factors(rng, spectra(rng, 400)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=40)
