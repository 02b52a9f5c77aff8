# SPDX-License-Identifier: Apache-2.0
"""Copies by NumPy's own loops: no memcpy() is called.

usage: loops.py SECONDS        of each

Prints the bytes that were written on each marked line.
"""

import json
import sys
import time

import numpy as np

seconds = float(sys.argv[1])
square = np.arange(1 << 20, dtype=np.float64).reshape(1 << 10, 1 << 10)
wide = np.arange(1 << 21, dtype=np.float64)
truth = {}


def during(seconds):
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        yield


def transposed():
    truth["transposed"] = 0
    for _ in during(seconds):
        made = square.T.copy()  # transposed
        truth["transposed"] += made.nbytes


def strided():
    truth["strided"] = 0
    for _ in during(seconds):
        made = wide[::2].copy()  # strided
        truth["strided"] += made.nbytes


def cast():
    truth["cast"] = 0
    for _ in during(seconds):
        made = wide.astype(np.float32)  # cast
        truth["cast"] += made.nbytes


transposed()
strided()
cast()
print(json.dumps(truth))
