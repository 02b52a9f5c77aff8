# SPDX-License-Identifier: Apache-2.0
"""An array made at the start and filled bit by bit: resident memory grows to the end, what is allocated does not."""

import numpy as np
from pace import COUNT, rounds

table = np.empty((COUNT, 40_000))

for number in rounds():
    table[number] = number
