# SPDX-License-Identifier: Apache-2.0
"""A lidar looks for the base of clouds: photons by height for each shot, counted up one height at a time."""

import array
import random

import harness

CATEGORY = "slice underutilization"
KIND = "load"
HEIGHTS, SHOTS, DARK = 500, 100, 60


def recording(random_source):
    """SHOTS times HEIGHTS numbers of photons; a cloud sends more of them back."""
    photons = array.array("B", random_source.randbytes(SHOTS * HEIGHTS))
    for shot in range(SHOTS):
        base = shot * HEIGHTS + random_source.randrange(200, HEIGHTS - DARK - 12)
        photons[base : base + 12] = array.array("B", range(244, 256))
    return photons


def clouds(photons):
    """For each shot all photons, the dark ones at the end, and the most that came from one height."""
    found = []
    for start in range(0, len(photons), HEIGHTS):
        total, dark, most = 0, 0, 0
        for i in range(start, start + HEIGHTS):
            total += photons[i]  # waste: load
            if photons[i] > most:  # waste: load
                most = photons[i]
        for i in range(start + HEIGHTS - DARK, start + HEIGHTS):
            dark += photons[i]  # waste: load
        found.append((total, dark, most))
    return found


def clouds_fixed(photons):
    found = []
    for start in range(0, len(photons), HEIGHTS):
        shot = photons[start : start + HEIGHTS]
        found.append((sum(shot), sum(shot[-DARK:]), max(shot)))
    return found


def work(repeats, count):
    random_source = random.Random(411)
    found = []
    for _ in range(repeats):
        shots = count(recording(random_source))
        clear = [total - dark * HEIGHTS // DARK for total, dark, most in shots if most == 255]
        found.append([len(clear), sum(clear), max(clear)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, clouds), lambda n: work(n, clouds_fixed), repeats=2000)
