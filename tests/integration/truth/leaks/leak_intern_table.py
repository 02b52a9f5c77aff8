# SPDX-License-Identifier: Apache-2.0
"""A table of strings that are meant to be shared, and hardly ever are. A dict of strings alone is unknown to Python's
collector."""
# HOLDER: SYMBOLS

from pace import rounds

SYMBOLS = {}
PREFIX = "namespace/" * 45


def intern(suffix):
    name = PREFIX + suffix  # LEAK
    return SYMBOLS.setdefault(name, name)


for number in rounds():
    for k in range(500):
        intern(str(number * 500 + k))
