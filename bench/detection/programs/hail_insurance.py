# SPDX-License-Identifier: Apache-2.0
"""Damage by hail: the radar's image is summed up anew for each insured rectangle; they overlap a hundred times."""

import dataclasses

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
SIDE = 700


@dataclasses.dataclass(frozen=True)
class Contract:
    top: int
    left: int
    bottom: int
    right: int
    cents: int  # for each square and unit of energy

    @property
    def squares(self):
        return (self.bottom - self.top) * (self.right - self.left)


def contracts(rng, count):
    for _ in range(count):
        top, left = rng.integers(0, SIDE - 330, size=2)
        height, width = rng.integers(60, 330, size=2)
        yield Contract(int(top), int(left), int(top + height), int(left + width), int(rng.integers(1, 9)))


def storm(rng):
    """Energy of the hail in each square."""
    energy = rng.integers(0, 3, size=(SIDE, SIDE))
    for _ in range(4):
        y, x, size = rng.integers(0, SIDE - 150), rng.integers(0, SIDE - 150), rng.integers(40, 150)
        energy[y : y + size, x : x + size] += rng.integers(2, 40)
    return energy


class Image:
    def __init__(self, energy):
        self.energy = energy

    def total(self, contract):
        field = self.energy[contract.top : contract.bottom, contract.left : contract.right]
        return int(field.sum())  # waste: load


class FixedImage(Image):
    def __init__(self, energy):
        super().__init__(energy)
        self.sums = np.zeros((SIDE + 1, SIDE + 1), dtype=energy.dtype)
        self.sums[1:, 1:] = energy.cumsum(axis=0).cumsum(axis=1)

    def total(self, contract):
        sums, top, left, bottom, right = self.sums, contract.top, contract.left, contract.bottom, contract.right
        return int(sums[bottom, right] - sums[top, right] - sums[bottom, left] + sums[top, left])


def claim(image, contract):
    """Cents to pay; the first 3 units of energy in each square do no harm."""
    harm = image.total(contract) - 3 * contract.squares  # waste: load
    return max(0, harm) * contract.cents


def work(repeats, kind):
    rng = np.random.default_rng(1788)
    insured, found = list(contracts(rng, 2_000)), []
    for _ in range(repeats):
        image = kind(storm(rng))
        claims = [claim(image, contract) for contract in insured]
        found.append([sum(claims), max(claims), claims.count(0)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Image), lambda n: work(n, FixedImage), repeats=115)
