# SPDX-License-Identifier: Apache-2.0
"""A tall building sways in the wind by Newmark's method; each step inverts the same effective stiffness again."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
FLOORS, STEP = 80, 0.02


def building(rng):
    masses = np.diag(rng.uniform(0.9, 1.1, size=FLOORS))
    springs = rng.uniform(300.0, 500.0, size=FLOORS)
    above = np.append(springs[1:], 0.0)
    stiffness = np.diag(springs + above) - np.diag(springs[1:], 1) - np.diag(springs[1:], -1)
    return masses, 0.05 * masses + 0.001 * stiffness, stiffness


def sway(masses, damping, stiffness, loads):
    place = speed = push = np.zeros(FLOORS)
    top = []
    for load in loads:
        effective = stiffness + 4.0 / STEP**2 * masses + 2.0 / STEP * damping  # waste: store
        inverse = np.linalg.inv(effective)  # waste: store
        inertia = masses @ (4.0 / STEP**2 * place + 4.0 / STEP * speed + push)
        new = inverse @ (load + inertia + damping @ (2.0 / STEP * place + speed))
        push = 4.0 / STEP**2 * (new - place) - 4.0 / STEP * speed - push
        speed = 2.0 / STEP * (new - place) - speed
        place = new
        top.append(place[-1])
    return top


def sway_fixed(masses, damping, stiffness, loads):
    place = speed = push = np.zeros(FLOORS)
    top = []
    inverse = np.linalg.inv(stiffness + 4.0 / STEP**2 * masses + 2.0 / STEP * damping)
    for load in loads:
        inertia = masses @ (4.0 / STEP**2 * place + 4.0 / STEP * speed + push)
        new = inverse @ (load + inertia + damping @ (2.0 / STEP * place + speed))
        push = 4.0 / STEP**2 * (new - place) - 4.0 / STEP * speed - push
        speed = 2.0 / STEP * (new - place) - speed
        place = new
        top.append(place[-1])
    return top


def work(repeats, march):
    rng = np.random.default_rng(105)
    drifts = []
    for _ in range(repeats):
        gusts = np.cumsum(rng.normal(size=500)) / 10.0
        loads = gusts[:, None] * np.linspace(0.5, 1.5, FLOORS)
        drifts.append(np.max(np.abs(march(*building(rng), loads))))
    return drifts


if __name__ == "__main__":
    harness.main(lambda n: work(n, sway), lambda n: work(n, sway_fixed), repeats=250)
