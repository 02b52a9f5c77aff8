# SPDX-License-Identifier: Apache-2.0
"""Particle detector: pulses of a scintillator are recognised by correlation with templates, in the frequency domain."""

import numpy as np
from scipy import fft, signal

import harness

# The templates and their transforms do not change from pulse to pulse: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
SAMPLES = 1024
KINDS = ("gamma", "neutron", "alpha", "noise")
DECAYS = {"gamma": (6.0, 40.0, 0.85), "neutron": (7.0, 110.0, 0.6), "alpha": (9.0, 160.0, 0.45)}


def template(kind):
    """A fast and a slow component, and the width of the photomultiplier."""
    time = np.arange(SAMPLES, dtype=float)
    if kind == "noise":
        shape = np.exp(-time / 2.0)
    else:
        fast, slow, share = DECAYS[kind]
        shape = share * np.exp(-time / fast) / fast + (1 - share) * np.exp(-time / slow) / slow
    width = signal.windows.gaussian(41, 5.0)
    smooth = np.convolve(shape, width / width.sum())[:SAMPLES]
    smooth -= smooth.mean()
    return smooth / np.linalg.norm(smooth)


TEMPLATES = np.array([template(kind) for kind in KINDS])


def pulses(rng, count):
    """Traces with one pulse each, at some time and of some height."""
    kinds = rng.choice(len(KINDS), count, p=(0.5, 0.3, 0.15, 0.05))
    starts = rng.integers(50, 500, count)
    heights = rng.uniform(4, 30, count)
    traces = rng.normal(0, 0.12, (count, SAMPLES))
    for trace, kind, start, height in zip(traces, kinds, starts, heights):
        trace[start:] += height * TEMPLATES[kind][:SAMPLES - start]
    return traces, kinds


class Score:
    def __init__(self):
        self.right = np.zeros((len(KINDS), len(KINDS)), dtype=int)
        self.shifts = []

    def add(self, true, correlation):
        best = int(correlation.argmax())
        kind, shift = divmod(best, correlation.shape[1])
        self.right[true, kind] += 1
        self.shifts.append(shift)

    def row(self):
        return [*np.diag(self.right), int(self.right.sum()), float(np.mean(self.shifts)), float(np.std(self.shifts))]


def correlate(trace, transforms):
    return fft.irfft(fft.rfft(trace, 2 * SAMPLES) * transforms, 2 * SAMPLES, axis=1)[:, :SAMPLES]


def transformed():
    return np.conj(fft.rfft(TEMPLATES, 2 * SAMPLES, axis=1))


def run(traces, kinds):
    score = Score()
    for trace, kind in zip(traces, kinds):
        score.add(kind, correlate(trace, transformed()))  # waste: load
    return score.row()


def run_fixed(traces, kinds):
    score, transforms = Score(), transformed()
    for trace, kind in zip(traces, kinds):
        score.add(kind, correlate(trace, transforms))
    return score.row()


def work(runs, running):
    rng = np.random.default_rng(639)
    return [np.round(running(*pulses(rng, 500)), 6) for _ in range(runs)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, run), lambda n: work(n, run_fixed), repeats=110)
