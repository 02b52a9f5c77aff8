# SPDX-License-Identifier: Apache-2.0
"""Calls of known mixtures, in one loop after the other. Arguments: CPU seconds of each."""

import hashlib
import sys
import time



def third(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(30):
            number += 1
            hashlib.pbkdf2_hmac("sha256", b"the same" if number % 3 == 0 else b"%d" % number, b"a", 40)  # third


def other(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(30):
            number += 1
            hashlib.pbkdf2_hmac("sha256", b"%d" % number, b"b", 40)  # other


def turns(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(30):
            number += 1
            hashlib.pbkdf2_hmac("sha256", b"%d" % (number % 20), b"c", 40)  # turns


def growing(end):
    log = b""
    while time.thread_time() < end:
        for _ in range(30):
            log += b"entry "
            hashlib.sha256(log).digest()  # growing


def recursive(depth, end):
    while time.thread_time() < end and depth > 0:
        recursive(depth - 1, time.thread_time() + 0.002)
        hashlib.pbkdf2_hmac("sha256", b"deep", b"d", 40)  # deep


if __name__ == "__main__":
    for part in (third, other, turns, growing):
        part(time.thread_time() + float(sys.argv[1]))
    recursive(50, time.thread_time() + float(sys.argv[1]))
