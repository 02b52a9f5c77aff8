# SPDX-License-Identifier: Apache-2.0
"""Calls of own functions and of built-in types, whose mixtures are known. Arguments: CPU
seconds of each part, and the parts."""

import hashlib
import sys
import time

WORDS = [f"Word {number}" for number in range(400)]
ROWS = [[f"{row}"] + [0] * 63 for row in range(50)]


def digests(data):
    return [hashlib.pbkdf2_hmac("sha256", data, b"%d" % salt, 40) for salt in range(4)]  # below


def work(number):
    return hashlib.pbkdf2_hmac("sha256", b"%d" % number, b"own", 80)


def same(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            digests(b"the same")  # same
            work(number)


def line(number, parts):
    return hashlib.pbkdf2_hmac("sha256", b"%d" % number, parts[0], 6)


def wanted(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            line(number, digests(b"wanted"))  # wanted


def measured(end):
    found = []
    while time.thread_time() < end:
        for _ in range(20):
            found.append(digests(b"measured"))  # measured


def other(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            digests(b"%d" % number)  # other


def fit(data):
    """Each step of it works out the same again, and no other call of fit() does."""
    found = []
    for _ in range(12):
        found.append(step(data))  # within
    return found


def step(data):
    return hashlib.pbkdf2_hmac("sha256", data, b"salt", 40)


def fitted(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            fit(b"%d" % number)  # fitted


def check(data):
    return len(digests(data)) == 4


def status(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            check(b"a status")  # status
            work(number)


def nested(end):
    """Prints the CPU time of the line that calls, whose calls are the same again."""
    number, same_s = 0, 0.0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            before = time.thread_time()
            digests(b"nested")  # nested
            same_s += time.thread_time() - before
            if number % 2:
                digests(b"%d" % number)
    print(same_s)


def lowered(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            known = {word.casefold() for word in WORDS}  # lowered
            work(number + len(known))


def searched(end):
    while time.thread_time() < end:
        for _ in range(20):
            WORDS.count("Word 399")  # searched


def cut(end):
    left = list(range(2000))
    while time.thread_time() < end:
        for _ in range(20):
            left = left[1:]  # cut
        left += range(20)


def columns(end):
    number = 0
    while time.thread_time() < end:
        for row in ROWS:
            number += len(row[1:])  # columns


if __name__ == "__main__":
    for part in sys.argv[2:]:
        globals()[part](time.thread_time() + float(sys.argv[1]))
