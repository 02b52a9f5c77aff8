# SPDX-License-Identifier: Apache-2.0
"""Deep-sea probes send profiles as texts of lists; they are read as Python's source, though they are plain JSON."""

import ast
import json
import random
import statistics

import harness

# ast.literal_eval() compiles a syntax tree and walks it; json.loads() reads such lists at once: API misuse.
CATEGORY = "API misuse"
KIND = "store"
DEPTHS = 120


def profile(rng):
    """Depth (m), temperature (degrees) and salt (g/kg), from the surface down."""
    surface, mixed, salt = rng.uniform(4, 28), rng.uniform(20, 120), rng.uniform(33, 36)
    depth, rows = 0.0, []
    for _ in range(DEPTHS):
        depth += rng.uniform(2, 14)
        warm = 2.0 + (surface - 2.0) / (1.0 + (depth / mixed) ** 2)
        rows.append([round(depth, 1), round(warm + rng.gauss(0, 0.05), 3), round(salt + depth / 4000 + rng.gauss(0, 0.01), 3)])
    return rows


def messages(rng, count):
    for number in range(count):
        yield f"P{number % 7:03d}|{rng.uniform(-60, 60):.3f}|{rng.uniform(-180, 180):.3f}|{json.dumps(profile(rng))}"


class Archive:
    def __init__(self, reader):
        self.reader = reader
        self.layers = {}
        self.bad = 0

    def add(self, message):
        probe, latitude, longitude, body = message.split("|")
        rows = self.reader(body)
        if not is_sound(rows):
            self.bad += 1
            return
        self.layers.setdefault(probe, []).append((mixed_layer(rows), heat(rows), float(latitude)))

    def summary(self):
        found = []
        for probe in sorted(self.layers):
            depths, heats, latitudes = zip(*self.layers[probe])
            found.append([statistics.fmean(depths), statistics.fmean(heats) / 1e9, max(latitudes), len(depths)])
        return found


def is_sound(rows):
    return all(after[0] > before[0] for before, after in zip(rows, rows[1:])) and all(30 < row[2] < 40 for row in rows)


def mixed_layer(rows):
    """Depth where the water is half a degree colder than above."""
    for depth, warm, _ in rows:
        if warm < rows[0][1] - 0.5:
            return depth
    return rows[-1][0]


def heat(rows):
    total = 0.0
    for (upper, warm, _), (lower, cold, _) in zip(rows, rows[1:]):
        total += (lower - upper) * (warm + cold) / 2 * 1025 * 3991
    return total


def read(body):
    return ast.literal_eval(body)  # waste: store


def read_fixed(body):
    return json.loads(body)


def work(days, reader):
    rng, found = random.Random(85), []
    for _ in range(days):
        archive = Archive(reader)
        for message in messages(rng, 70):
            archive.add(message)
        found += archive.summary()
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, read), lambda n: work(n, read_fixed), repeats=900)
