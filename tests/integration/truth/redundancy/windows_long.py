# SPDX-License-Identifier: Apache-2.0
"""Calls of about 15 ms, eight in a row with the same arguments, and then never again. Argument: CPU seconds."""

import hashlib
import sys
import time


def rounds_for(seconds):
    began, rounds = time.thread_time(), 20_000
    hashlib.pbkdf2_hmac("sha256", b"how long", b"a", rounds)
    return int(rounds * seconds / (time.thread_time() - began))


def main(end, rounds):
    number = 0
    while time.thread_time() < end:
        for _ in range(8):
            hashlib.pbkdf2_hmac("sha256", b"%d" % number, b"b", rounds)  # long
        number += 1


if __name__ == "__main__":
    main(time.thread_time() + float(sys.argv[1]), rounds_for(0.015))
