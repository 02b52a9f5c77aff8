# SPDX-License-Identifier: Apache-2.0
"""prefixes.py SECONDS_OF_EACH NAME...: calls whose argument grows, with and without the need to read all of it again,
by lines. Seconds are of CPU time. Says how many bytes the longest had."""
import hashlib
import json
import random
import sys
import time

import numpy as np

SECONDS = float(sys.argv[1])
ENTRIES = [f"{i} opened document {i * 7919 % 100003}\n".encode() for i in range(1500)]
VALUES = [float(i * 7919 % 1009) for i in range(3000)]
RETURNS = np.random.default_rng(1).normal(1.0, 0.001, 4000)
OTHERS = np.random.default_rng(2).random((8, 4000))
WEIGHTS = np.random.default_rng(3).random((50, 4000))
SIZES = random.Random(1)
WHOLE = b"".join(ENTRIES)
sizes = {}


def digest():
    log = bytearray()
    for entry in ENTRIES:
        log += entry
        hashlib.sha256(log).digest()  # digest
    sizes["digest"] = len(log)


def product():
    for day in range(1, len(RETURNS)):
        np.cumprod(RETURNS[:day])  # product
    sizes["product"] = 8 * (len(RETURNS) - 1)


def maximum():
    for i in range(1, len(VALUES)):
        max(VALUES[:i])  # maximum
    sizes["maximum"] = 8 * (len(VALUES) - 1)


def arrange():
    items = []
    for value in VALUES:
        items.append(value)
        sorted(items)  # arrange
    sizes["arrange"] = 8 * len(items)


def sort():
    items = []
    for value in VALUES * 4:  # few samples find that a call has ended, so few items may be new from one to the next
        items.append(value)
        items.sort(key=float.__neg__)  # sort
    sizes["sort"] = 8 * len(items)


def update():
    state = hashlib.sha256()
    for entry in ENTRIES:
        state.update(entry)  # update
        state.copy().digest()


def append():
    items = []
    for _ in range(200000):
        items.append(None)  # append


def lists():
    """Each is another one, and longer than the one before."""
    for size in range(100, 1000, 5):
        values = [float(i * 7919 % 1009) for i in range(size)]
        values.sort(key=float.__neg__)  # lists


def at_random():
    for _ in range(200):
        hashlib.sha256(WHOLE[: SIZES.randrange(100, len(WHOLE))])  # at random


def another():
    """Each is longer than the one before, and begins otherwise."""
    for size in range(600, 6000, 8):
        hashlib.sha256(size.to_bytes(8, "little") + WHOLE[:size])  # another


def windows():
    for i in range(len(VALUES) - 500):
        sum(VALUES[i : i + 500])  # windows


def new_weights():
    """Each call has new weights for all."""
    for day in range(100, len(RETURNS)):
        WEIGHTS[day % 50, :day].dot(OTHERS[day % 8, :day])  # new weights


for name in sys.argv[2:]:
    body = globals()[name.replace(" ", "_")]
    until = time.process_time() + SECONDS
    while time.process_time() < until:
        body()
print(json.dumps({"bytes": sizes}))
