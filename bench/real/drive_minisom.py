# SPDX-License-Identifier: Apache-2.0
"""MiniSom: trains a map of 20 by 20 neurons on random clusters."""

import sys
import time

import numpy

sys.path.insert(0, sys.argv[1])
from minisom import MiniSom  # noqa: E402

random = numpy.random.RandomState(1)
data = random.normal(size=(2000, 12)) + random.normal(scale=4, size=(8, 12))[random.randint(8, size=2000)]
began = time.process_time()
som = MiniSom(20, 20, 12, sigma=3.0, random_seed=1)
som.train_random(data, 7000)
elapsed = time.process_time() - began
print(float(abs(som.get_weights()).sum()), elapsed)
