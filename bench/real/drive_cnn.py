# SPDX-License-Identifier: Apache-2.0
"""cnn-from-scratch: its own cnn.py, on random images in place of MNIST's. The project was never changed; `conv` and
`pool` put what PieProf's Listing 9 proposes, and the like for the pooling layer, in place of its back-propagation."""

import os
import runpy
import sys
import time
import types

import numpy as np


def images(seed, n=100):
    random = np.random.RandomState(seed)
    return (255 * random.random_sample((n, 28, 28)) * (random.random_sample((n, 28, 28)) < 0.2)).astype(np.uint8)


def labels(seed, n=100):
    return np.random.RandomState(seed).randint(10, size=n)


def conv_backprop(self, d_L_d_out, learn_rate):
    d_L_d_filters = np.zeros(self.filters.shape)
    for im_region, i, j in self.iterate_regions(self.last_input):
        d_L_d_filters += d_L_d_out[i, j][:, None, None] * im_region
    self.filters -= learn_rate * d_L_d_filters


def pool_backprop(self, d_L_d_out):
    d_L_d_input = np.zeros(self.last_input.shape)
    for im_region, i, j in self.iterate_regions(self.last_input):
        is_max = im_region == np.amax(im_region, axis=(0, 1))
        d_L_d_input[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = is_max * d_L_d_out[i, j]
    return d_L_d_input


source, fixes = sys.argv[1], sys.argv[2:]
sys.path.insert(0, source)
sys.modules["mnist"] = types.SimpleNamespace(
    train_images=lambda: images(1), train_labels=lambda: labels(2), test_images=lambda: images(3), test_labels=lambda: labels(4)
)
if "conv" in fixes:
    import conv

    conv.Conv3x3.backprop = conv_backprop
if "pool" in fixes:
    import maxpool

    maxpool.MaxPool2.backprop = pool_backprop
np.random.seed(1)
began = time.process_time()
end = runpy.run_path(os.path.join(source, "cnn.py"), run_name="__main__")
elapsed = time.process_time() - began
print(float(end["loss"]), elapsed)
