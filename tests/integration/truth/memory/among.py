# SPDX-License-Identifier: Apache-2.0
"""Arrays of 64 MB that stay, in a program that makes and drops smaller ones as fast as it can.

usage: among.py
"""

import json
import time

import numpy as np

BYTES = 64_000_000


def churn(seconds):
    """Nothing is touched: the distance of samples becomes greater than the arrays that stay."""
    end, made = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        for _ in range(1000):
            np.empty(400_000)  # CHURN
        made += 1000
    return made


made = churn(0.6)
kept = [np.zeros(BYTES // 8) for _ in range(4)]  # KEPT
made += churn(0.2)
print(json.dumps({"kept_bytes": sum(array.nbytes for array in kept), "churn_bytes": made * 3_200_000}))
