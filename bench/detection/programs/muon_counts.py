# SPDX-License-Identifier: Apache-2.0
"""Muons in the modules of a detector: fields of records are read one record at a time to fill histograms."""

import numpy as np

import harness

# A field of all records is a slice of the array, and NumPy counts whole arrays. Here records[i]["adc"] makes an object
# for each record and each field: slice underutilization.
CATEGORY = "slice underutilization"
KIND = "load"
MODULES, BINS = 11, 48

# Packed as the readout writes it, so fields lie at odd addresses.
HIT = np.dtype([("module", "u1"), ("time", "<u4"), ("adc", "<i2"), ("flags", "u1")])


class Detector:
    def __init__(self, rng):
        self.rng = rng
        self.gain = rng.uniform(0.8, 1.25, MODULES)
        self.pedestal = rng.integers(40, 60, MODULES)
        self.counts = np.zeros((MODULES, BINS), dtype=np.int64)
        self.pile_up = 0

    def read_out(self, count):
        """Hits of a run: energies as Landau's law has them, roughly."""
        hits = np.zeros(count, dtype=HIT)
        hits["module"] = self.rng.choice(MODULES, count)
        energy = 90.0 + 25.0 * (-np.log(self.rng.gamma(1.4, 1.0, count)) + 1.0).clip(-2.5, 14.0)
        hits["adc"] = energy * self.gain[hits["module"]] + self.pedestal[hits["module"]]
        hits["time"] = np.cumsum(self.rng.exponential(900.0, count))
        hits["flags"] = (self.rng.random(count) < 0.02) * 4 + (self.rng.random(count) < 0.3)
        return hits

    def fill(self, hits):
        for i in range(len(hits)):
            module = hits[i]["module"]  # waste: load
            if hits[i]["flags"] & 4:  # waste: load
                self.pile_up += 1
                continue
            energy = (hits[i]["adc"] - self.pedestal[module]) / self.gain[module]  # waste: load
            number = int(energy // 10.0)
            if 0 <= number < BINS:
                self.counts[module, number] += 1  # waste: load

    def peaks(self):
        """The most frequent energy of each module, between the bins by a parabola."""
        found = []
        for counts in self.counts:
            top = min(max(int(counts.argmax()), 1), BINS - 2)
            left, middle, right = (float(count) for count in counts[top - 1:top + 2])
            bend = left - 2.0 * middle + right
            found.append(10.0 * (top + 0.5 + (0.5 * (left - right) / bend if bend else 0.0)))
        return np.array(found)

    def calibrate(self):
        peaks = self.peaks()
        self.gain *= 1.0 + 0.1 * (peaks / peaks.mean() - 1.0)


class FixedDetector(Detector):
    def fill(self, hits):
        double = hits["flags"] & 4 != 0
        self.pile_up += int(double.sum())
        good = hits[~double]
        module = good["module"].astype(int)
        number = ((good["adc"] - self.pedestal[module]) / self.gain[module] // 10.0).astype(int)
        inside = (number >= 0) & (number < BINS)
        flat = np.bincount(module[inside] * BINS + number[inside], minlength=MODULES * BINS)
        self.counts += flat.reshape(MODULES, BINS)


def work(runs, kind):
    detector = kind(np.random.default_rng(1936))
    found = []
    for _ in range(runs):
        detector.fill(detector.read_out(4_000))
        detector.calibrate()
        found.append([detector.pile_up, detector.counts.sum(), *detector.peaks()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Detector), lambda n: work(n, FixedDetector), repeats=450)
