# SPDX-License-Identifier: Apache-2.0
"""A list of a module that only grows, of many small objects."""
# HOLDER: RESULTS

from pace import rounds

RESULTS = []
ROW = [0.5] * 45

for number in rounds():
    for _ in range(600):
        RESULTS.append(ROW.copy())  # LEAK
