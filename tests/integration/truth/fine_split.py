# SPDX-License-Identifier: Apache-2.0
"""Python and native work that alternate every 30 microseconds, too fast for a clock around each.

usage: fine_split.py SECONDS

The price of one native call comes from chunks of nothing but such calls, which take turns with the mixed chunks;
mixed chunk minus its calls is the Python part.
"""

import hashlib
import sys

from measure import Phases, tell

DATA = bytes(range(256)) * 256  # 64 KiB: about 30 us
CALLS = 100  # of one chunk


def alone():
    for _ in range(CALLS):
        hashlib.sha256(DATA)


def mixed():
    x = 1
    for _ in range(CALLS):
        hashlib.sha256(DATA)
        for _ in range(500):
            x = (x * 75 + 74) % 65537


def main(seconds):
    phases = Phases()
    while phases.ns["mixed"] < seconds * 1e9:
        for _ in range(4):
            phases.begin()
            mixed()
            phases.end("mixed")
        phases.begin()
        alone()
        phases.end("alone")
    native = 4 * phases.ns["alone"] / 1e9
    python = phases.ns["mixed"] / 1e9 - native
    tell(seconds={"native": native, "python": python}, share=native / (native + python), where="native")


main(float(sys.argv[1]))
