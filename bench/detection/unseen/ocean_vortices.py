# SPDX-License-Identifier: Apache-2.0
"""Two-dimensional turbulence in a spectral model: vortices of an ocean basin, stepped with an integrating factor."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
SIZE = 64
STEP, VISCOSITY = 2e-3, 1e-3


def wave_numbers():
    k = np.fft.fftfreq(SIZE, 1.0 / SIZE)
    kx, ky = np.meshgrid(k, k)
    square = kx * kx + ky * ky
    inverse = np.where(square > 0.0, 1.0 / np.maximum(square, 1.0), 0.0)
    keep = (np.abs(kx) < SIZE / 3) & (np.abs(ky) < SIZE / 3)
    decay = np.exp(-VISCOSITY * square * STEP - 1e-12 * square**4.0 * STEP)
    drag = 1.0 / (1.0 + STEP * 0.1 * np.exp(-((square / 16.0) ** 1.5)))
    return kx, ky, inverse, keep, decay * drag


def start(rng):
    field = rng.normal(size=(SIZE, SIZE))
    k = np.abs(np.fft.fftfreq(SIZE, 1.0 / SIZE))
    shape = np.exp(-((np.hypot(*np.meshgrid(k, k)) - 6.0) ** 2) / 4.0)
    return np.fft.fft2(field) * shape


def step(vorticity, waves):
    """Half of the products in real space; the forcing comes from the state itself."""
    kx, ky, inverse, keep, factor = waves
    stream = vorticity * inverse
    jacobian = np.fft.fft2(np.fft.ifft2(1j * ky * stream + 1j * ky * vorticity * 1j).real ** 2)
    return (vorticity - STEP * 1j * kx * jacobian * keep) * factor


def run(vorticity, steps):
    for _ in range(steps):
        waves = wave_numbers()  # waste: store
        vorticity = step(vorticity, waves)
    return vorticity


def run_fixed(vorticity, steps):
    waves = wave_numbers()
    for _ in range(steps):
        vorticity = step(vorticity, waves)
    return vorticity


def work(repeats, advance):
    rng = np.random.default_rng(51)
    found = []
    for _ in range(repeats):
        vorticity = advance(start(rng), 100)
        energy = np.abs(vorticity) ** 2 / SIZE**4
        found.append([energy.sum(), energy[:5, :5].sum()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, run), lambda n: work(n, run_fixed), repeats=60)
