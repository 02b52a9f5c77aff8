# SPDX-License-Identifier: Apache-2.0
"""Lines that multiply matrices, one three times as often; BLAS divides the work among threads of its own."""

import time

import numpy

matrix = numpy.ones((700, 700))
until = time.monotonic() + 2.5
while time.monotonic() < until:
    matrix @ matrix  # one
    [matrix @ matrix for _ in range(3)]  # three
