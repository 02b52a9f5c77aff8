# SPDX-License-Identifier: Apache-2.0
"""Patterns of convection by the equation of Swift and Hohenberg, in Fourier space with exponential time steps."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
SIZE, LENGTH = 64, 60.0
STEP = 0.2


def factors(drive):
    """Of the state and of the nonlinear term."""
    k = 2.0 * np.pi * np.fft.fftfreq(SIZE, LENGTH / SIZE)
    kx, ky = np.meshgrid(k, k)
    rate = drive - (1.0 - kx**2 - ky**2) ** 2
    decay = np.exp(rate * STEP)
    gain = np.where(np.abs(rate) > 1e-9, np.expm1(rate * STEP) / np.where(rate == 0.0, 1.0, rate), STEP)
    kept = np.hypot(kx, ky) < 2.0 / 3.0 * k.max()
    return decay, gain * kept


def run(field, drive, steps):
    state = np.fft.fft2(field)
    for _ in range(steps):
        decay, gain = factors(drive)  # waste: store
        state = decay * state - gain * np.fft.fft2(field * field * field)
        field = np.fft.ifft2(state).real
    return field


def run_fixed(field, drive, steps):
    state = np.fft.fft2(field)
    decay, gain = factors(drive)
    for _ in range(steps):
        state = decay * state - gain * np.fft.fft2(field * field * field)
        field = np.fft.ifft2(state).real
    return field


def figures(field):
    """Strength of the pattern, share of rising fluid, and its main wave number."""
    spectrum = np.abs(np.fft.fft2(field)) ** 2
    k = 2.0 * np.pi * np.fft.fftfreq(SIZE, LENGTH / SIZE)
    return [field.std(), (field > 0).mean(), (np.hypot(*np.meshgrid(k, k)) * spectrum).sum() / spectrum.sum()]


def work(repeats, advance):
    rng = np.random.default_rng(51)
    found = []
    for _ in range(repeats):
        field = advance(0.1 * rng.normal(size=(SIZE, SIZE)), rng.uniform(0.1, 0.4), 100)
        found.append(figures(field))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, run), lambda n: work(n, run_fixed), repeats=125)
