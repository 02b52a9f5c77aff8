# SPDX-License-Identifier: Apache-2.0
"""Dances of bees in films: paths are measured, waggles are found, and directions to food are worked out."""

import math

import numpy as np

import harness

# The length of a path is a norm of the differences of all rows at once: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
RATE = 60


class Dance:
    """Frames of one bee: straight waggles with turns to the left and right in turn."""

    def __init__(self, rng):
        self.direction = float(rng.uniform(0, 2 * math.pi))
        runs = int(rng.integers(4, 9))
        parts, place = [], np.zeros(2)
        for number in range(runs):
            waggle = self.waggle(int(rng.integers(40, 110)), rng)
            turn = self.turn(int(rng.integers(40, 70)), 1 if number % 2 else -1)
            for steps in (waggle, turn):
                path = place + np.cumsum(steps, axis=0)
                parts.append(path)
                place = path[-1]
        self.path = np.concatenate(parts) + rng.normal(0, 0.01, (sum(map(len, parts)), 2))

    def ahead(self, angle):
        return np.column_stack([np.cos(angle), np.sin(angle)])

    def waggle(self, frames, rng):
        angle = np.full(frames, self.direction) + rng.normal(0, 0.02, frames)
        side = self.ahead(angle + math.pi / 2) * (0.35 * np.sin(2 * math.pi * 13 / RATE * np.arange(frames)))[:, None]
        return 0.12 * self.ahead(angle) + side

    def turn(self, frames, side):
        angle = self.direction + side * np.linspace(0.3, 2 * math.pi, frames)
        return 0.25 * self.ahead(angle)


def length(path):
    total = 0.0
    for frame in range(1, len(path)):
        dx = path[frame, 0] - path[frame - 1, 0]  # waste: load
        dy = path[frame, 1] - path[frame - 1, 1]  # waste: load
        total += math.sqrt(dx * dx + dy * dy)
    return total


def length_fixed(path):
    steps = path[1:] - path[:-1]
    return float(np.sqrt(np.einsum("ij,ij->i", steps, steps)).sum())


def shaking(path):
    """How much of the speed is at the frequency of waggles, in windows of half a second."""
    steps = np.diff(path, axis=0)
    windows = np.lib.stride_tricks.sliding_window_view(steps, RATE // 2, axis=0)[::6]
    power = np.abs(np.fft.rfft(windows, axis=2)) ** 2
    band = power[:, :, 5:9].sum(axis=(1, 2))
    return band / (power.sum(axis=(1, 2)) + 1e-9)


def waggles(path):
    """Where the bee shakes, from the first window to the one after the last."""
    shakes = np.concatenate([[0], (shaking(path) > 0.5).astype(int), [0]])
    edges = np.flatnonzero(np.diff(shakes))
    return edges.reshape(-1, 2) * 6


def heading(path, bounds):
    first, after = bounds
    steps = path[min(after + RATE // 2, len(path)) - 1] - path[first]
    return math.atan2(steps[1], steps[0])


def food(path, found):
    """Mean direction and the distance that the length of the waggles stands for."""
    headings = [heading(path, bounds) for bounds in found]
    mean = math.atan2(sum(map(math.sin, headings)), sum(map(math.cos, headings)))
    seconds = sum(after - first for first, after in found.tolist()) / RATE / max(len(found), 1)
    return mean, 1000 * seconds


def report(dance, measuring):
    found = waggles(dance.path)
    direction, metres = food(dance.path, found)
    off = (direction - dance.direction + math.pi) % (2 * math.pi) - math.pi
    return [len(dance.path), len(found), round(off, 6), round(metres, 4), round(measuring(dance.path), 6)]


def work(dances, measuring):
    rng = np.random.default_rng(7202)
    return [report(Dance(rng), measuring) for _ in range(dances)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, length), lambda n: work(n, length_fixed), repeats=5000)
