# SPDX-License-Identifier: Apache-2.0
"""The gradient of a convolutional layer, filter by filter (PieProf, listing 8: CNN-from-Scratch)."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"


class Conv3x3:
    def __init__(self, rng, filters):
        self.count = filters
        self.filters = rng.normal(size=(filters, 3, 3)) / 9.0

    @staticmethod
    def regions(image):
        height, width = image.shape
        for i in range(height - 2):
            for j in range(width - 2):
                yield image[i : i + 3, j : j + 3], i, j

    def forward(self, image):
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3))
        return np.tensordot(windows, self.filters, axes=([2, 3], [1, 2]))

    def backprop(self, image, d_out, rate):
        d_filters = np.zeros(self.filters.shape)
        for region, i, j in self.regions(image):
            for f in range(self.count):
                d_filters[f] += d_out[i, j, f] * region  # waste: load
        self.filters -= rate * d_filters

    def backprop_fixed(self, image, d_out, rate):
        d_filters = np.zeros(self.filters.shape)
        for region, i, j in self.regions(image):
            d_filters += d_out[i, j, :, None, None] * region
        self.filters -= rate * d_filters


def train(repeats, backprop):
    rng = np.random.default_rng(2)
    images = rng.random((20, 28, 28)) - 0.5
    layer = Conv3x3(rng, filters=8)
    for step in range(repeats):
        image = images[step % len(images)]
        out = layer.forward(image)
        backprop(layer, image, out - np.tanh(2.0 * out), 1e-4)
    return layer.filters


if __name__ == "__main__":
    harness.main(lambda n: train(n, Conv3x3.backprop), lambda n: train(n, Conv3x3.backprop_fixed), repeats=660)
