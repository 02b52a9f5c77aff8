# SPDX-License-Identifier: Apache-2.0
"""A plucked string by finite differences; three arrays take turns, and every step is computed in place.

The buffers are recycled, so each step writes where an older one was; the values always differ.
"""

import numpy as np

import harness

POINTS, STEPS = 3000, 2000


def pluck(rng):
    """A triangle with its corner where the finger was."""
    finger = rng.integers(POINTS // 10, POINTS // 2)
    place = np.arange(POINTS)
    shape = np.minimum(place / finger, (POINTS - 1 - place) / (POINTS - 1 - finger))
    return rng.uniform(0.5, 2.0) * shape


def vibrate(before, speed, loss):
    """What a pickup near the bridge hears."""
    now, after, bent = before.copy(), np.zeros(POINTS), np.empty(POINTS - 2)
    heard = np.empty(STEPS)
    for step in range(STEPS):
        np.add(now[:-2], now[2:], out=bent)
        bent *= speed
        inner = after[1:-1]
        np.multiply(now[1:-1], 2.0 - loss - 2.0 * speed, out=inner)
        inner += bent
        before *= 1.0 - loss  # not needed any more
        inner -= before[1:-1]
        before, now, after = now, after, before
        heard[step] = now[POINTS // 12]
    return heard, now


def work(repeats):
    rng = np.random.default_rng(752)
    found = []
    for _ in range(repeats):
        heard, last = vibrate(pluck(rng), rng.uniform(0.7, 0.95), rng.uniform(0.0, 0.002))
        found.append([np.sqrt(np.square(heard).mean()), heard[-1], np.abs(last).max()])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1500)
