# SPDX-License-Identifier: Apache-2.0
"""The running median of a noisy signal; for each sample the whole window is sorted again though one value changed."""

import numpy as np

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
WIDTH = 5001


def signal(rng, length):
    noise = rng.normal(size=length)
    spikes = 20.0 * (rng.random(length) < 0.02)
    return np.sin(np.arange(length) / 500.0) + noise + spikes


def medians(values):
    window = np.sort(values[:WIDTH])
    found = [window[WIDTH // 2]]
    for i in range(WIDTH, len(values)):
        window[np.searchsorted(window, values[i - WIDTH])] = values[i]
        window.sort()  # waste: store
        found.append(window[WIDTH // 2])
    return np.array(found)


def medians_fixed(values):
    window = np.sort(values[:WIDTH])
    found = [window[WIDTH // 2]]
    for i in range(WIDTH, len(values)):
        old = np.searchsorted(window, values[i - WIDTH])
        new = np.searchsorted(window, values[i])
        if new > old:
            window[old : new - 1] = window[old + 1 : new]
            window[new - 1] = values[i]
        else:
            window[new + 1 : old + 1] = window[new:old]
            window[new] = values[i]
        found.append(window[WIDTH // 2])
    return np.array(found)


def work(repeats, smooth):
    rng = np.random.default_rng(23)
    return [np.abs(smooth(signal(rng, 15000))).mean() for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, medians), lambda n: work(n, medians_fixed), repeats=23)
