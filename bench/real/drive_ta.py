# SPDX-License-Identifier: Apache-2.0
"""ta: the average directional index of a random walk of prices."""

import sys
import time

import numpy
import pandas

sys.path.insert(0, sys.argv[1])
import ta.trend  # noqa: E402

random = numpy.random.RandomState(1)
close = pandas.Series(1000 + random.normal(size=250_000).cumsum())
high, low = close + random.random_sample(len(close)), close - random.random_sample(len(close))
began = time.process_time()
adx = ta.trend.adx(high, low, close)
positive = ta.trend.adx_pos(high, low, close)
elapsed = time.process_time() - began
print(float(adx[40:-2].sum() + positive[40:-2].sum()), elapsed)
