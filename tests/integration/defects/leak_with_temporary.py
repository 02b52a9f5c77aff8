# SPDX-License-Identifier: Apache-2.0
"""Pages that are kept for ever, each made of a temporary of the same size on the same line."""
import time

CACHE = {}


def page(n):
    body = ("x" * 50_000) + str(n)  # LEAK
    CACHE[n] = body


def main():
    for n in range(1200):
        page(n)
        time.sleep(0.001)


main()
