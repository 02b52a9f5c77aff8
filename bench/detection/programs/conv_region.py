# SPDX-License-Identifier: Apache-2.0
"""A convolution whose inner loop rounds half of the filter's size again for each pixel (PieProf, table 2: NumPyCNN,
line 161 of numpycnn.py)."""

import numpy as np

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"


def convolve(image, kernel):
    size = kernel.shape[0]
    result = np.zeros(image.shape)
    for r in range(size // 2, image.shape[0] - size // 2):
        for c in range(size // 2, image.shape[1] - size // 2):
            rows = slice(r - int(np.floor(size / 2.0)), r + int(np.ceil(size / 2.0)))  # waste: store
            columns = slice(c - int(np.floor(size / 2.0)), c + int(np.ceil(size / 2.0)))  # waste: store
            region = image[rows, columns]
            result[r, c] = np.vdot(region, kernel)
    return result


def convolve_fixed(image, kernel):
    size = kernel.shape[0]
    below, above = int(np.floor(size / 2.0)), int(np.ceil(size / 2.0))
    result = np.zeros(image.shape)
    for r in range(size // 2, image.shape[0] - size // 2):
        for c in range(size // 2, image.shape[1] - size // 2):
            region = image[r - below : r + above, c - below : c + above]
            result[r, c] = np.vdot(region, kernel)
    return result


def work(repeats, conv):
    rng = np.random.default_rng(31)
    kernels = rng.normal(size=(2, 5, 5)) / 25.0
    means = []
    for _ in range(repeats):
        image = rng.random((64, 64))
        means.append([np.maximum(conv(image, kernel), 0.0).mean() for kernel in kernels])
    return means


if __name__ == "__main__":
    harness.main(lambda n: work(n, convolve), lambda n: work(n, convolve_fixed), repeats=430)
