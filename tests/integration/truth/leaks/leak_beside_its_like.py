# SPDX-License-Identifier: Apache-2.0
"""Pages that are kept, each made of a temporary of the same size on the same line."""
# HOLDER: cache

from pace import rounds

cache = {}


def page(number):
    body = "x" * 250_000 + str(number)  # LEAK
    cache[number] = body


for number in rounds():
    page(number)
