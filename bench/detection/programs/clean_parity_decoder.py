# SPDX-License-Identifier: Apache-2.0
"""Messages of a space probe are mended by a low-density parity check: beliefs go to and fro until all checks hold."""

import numpy as np

import harness

LENGTH, CHECKS, DEGREE = 480, 240, 3


class Code:
    """Each bit takes part in three checks of six bits; the edges of both sides are kept as places."""

    def __init__(self, rng):
        sockets = np.concatenate([rng.permutation(LENGTH) for _ in range(DEGREE)])
        self.bits = sockets.reshape(CHECKS, LENGTH * DEGREE // CHECKS)

    def sums(self, messages):
        return np.bincount(self.bits.ravel(), weights=messages.ravel(), minlength=LENGTH)

    def fails(self, word):
        return np.count_nonzero(word[self.bits].sum(axis=1) % 2)


def tighten(wanted):
    """Of each check: what its other bits say, by the smallest belief and the product of the signs."""
    signs = np.where(wanted < 0, -1.0, 1.0)
    sizes = np.abs(wanted)
    order = np.argpartition(sizes, 1, axis=1)
    rows = np.arange(len(sizes))
    least, second = sizes[rows, order[:, 0]], sizes[rows, order[:, 1]]
    others = np.where(np.arange(sizes.shape[1]) == order[:, :1], second[:, None], least[:, None])
    return 0.8 * others * signs * signs.prod(axis=1, keepdims=True)


def decode(code, heard, rounds=40):
    """(word, rounds, checks that still fail)"""
    from_checks = np.zeros(code.bits.shape)
    for number in range(1, rounds + 1):
        belief = heard + code.sums(from_checks)
        word = (belief < 0).astype(np.int64)
        wrong = code.fails(word)
        if not wrong:
            break
        from_checks = tighten(belief[code.bits] - from_checks)
    return word, number, wrong


def transmit(rng, noise):
    """The word of zeros stands for all, as the code is linear: what the antenna hears, as log-likelihoods."""
    return 2.0 * (1.0 + rng.normal(0, noise, LENGTH)) / noise**2


def work(passes):
    rng, found = np.random.default_rng(122), []
    for _ in range(passes):
        code, rounds, lost, flips = Code(rng), 0, 0, 0
        for noise in rng.uniform(0.6, 0.85, 40):
            word, number, wrong = decode(code, transmit(rng, noise))
            rounds += number
            lost += wrong > 0
            flips += int(word.sum())
        found.append([rounds, lost, flips])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=400)
