# SPDX-License-Identifier: Apache-2.0
"""Small blocks without end, of known sizes, for SECONDS of CPU time.

usage: tiny.py SECONDS

Sizes are multiples of 16, as the interpreter sets aside. LIGHT and HEAVY are dropped at once. KEPT stays. Of WINDOW
there are always as many, and each lives for a part of a second. Prints what each marked line allocates and holds at the
end, in bytes.
"""

import itertools
import json
import sys
import time

HEADER = sys.getsizeof(b"")
LIGHT, HEAVY, KEPT, WINDOW = 48, 256, 512, 448
LIGHTS, HEAVIES, WINDOWS = 1000, 200, 20
WINDOW_BLOCKS = 16_000


def main(seconds):
    light, heavy, kept_size, window_size = (size - HEADER for size in (LIGHT, HEAVY, KEPT, WINDOW))
    kept, window, at, rounds = [], [b""] * WINDOW_BLOCKS, 0, 0
    while time.process_time() < seconds:
        for _ in itertools.repeat(None, LIGHTS):
            a = bytes(light)  # LIGHT
        for _ in itertools.repeat(None, HEAVIES):
            a = bytes(heavy)  # HEAVY
        for _ in itertools.repeat(None, WINDOWS):
            window[at] = bytes(window_size)  # WINDOW
            at = (at + 1) % WINDOW_BLOCKS
        kept.append(bytes(kept_size))  # KEPT
        rounds += 1
    allocated = {"LIGHT": rounds * LIGHTS * LIGHT, "HEAVY": rounds * HEAVIES * HEAVY, "KEPT": rounds * KEPT,
                 "WINDOW": rounds * WINDOWS * WINDOW}
    held = {"LIGHT": 0, "HEAVY": 0, "KEPT": rounds * KEPT, "WINDOW": min(rounds * WINDOWS, WINDOW_BLOCKS) * WINDOW}
    lists = sys.getsizeof(kept) + sys.getsizeof(window)
    print(json.dumps({"allocated": allocated, "held": held, "lists": lists}))


main(float(sys.argv[1]))
