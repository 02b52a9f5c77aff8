# SPDX-License-Identifier: Apache-2.0
"""Particles in a double well with friction and noise, all of them at once, in place.

The tensors of noise and of force lie at the same addresses in each step; what is in them is new.
"""

import torch

import harness

WALKERS, STEPS, STEP = 20000, 500, 0.01


def force_(out, place, tilt):
    """Of the potential x^4 / 4 - x^2 / 2 - tilt x."""
    torch.mul(place, place, out=out)
    out.neg_().add_(1.0).mul_(place).add_(tilt)


def simulate(source, heat, tilt):
    """How many are on the right in the end, their mean, and the mean square of their speed."""
    place = torch.full((WALKERS,), -1.0)
    speed = torch.zeros(WALKERS)
    force, noise = torch.empty(WALKERS), torch.empty(WALKERS)
    kick = (2.0 * heat * STEP) ** 0.5
    for _ in range(STEPS):
        force_(force, place, tilt)
        noise.normal_(generator=source)
        speed.mul_(1.0 - STEP).add_(force, alpha=STEP).add_(noise, alpha=kick)
        place.add_(speed, alpha=STEP)
    return [float((place > 0.0).sum()), float(place.mean()), float(speed.square().mean())]


def work(repeats):
    source = torch.Generator().manual_seed(753)
    found = []
    for number in range(repeats):
        found.append(simulate(source, 0.05 + 0.01 * (number % 25), 0.002 * (number // 25)))
    return found


if __name__ == "__main__":
    harness.main(work, repeats=420)
