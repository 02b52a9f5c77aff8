# SPDX-License-Identifier: Apache-2.0
"""Copies of known volume, each on a line of its own, one after another.

usage: copies.py fast SECONDS       of 2 MB, for so long on each line
       copies.py small SECONDS      of 10 000 bytes and less
       copies.py paced COUNT        this many on each line, of 8 MB, one in 10 ms
       copies.py threads COUNT      of 1000 bytes in this number of threads, one after the other, 3 MB in each

Prints the bytes that each marked line copies.
"""

import collections
import json
import pickle
import sys
import threading
import time

import numpy as np

MB = 1 << 20
truth = collections.Counter()

kind, amount = sys.argv[1], float(sys.argv[2])
size = 8 * MB if kind == "paced" else 2 * MB
data = bytes(size)
array = np.arange(size // 8, dtype=np.float64)
target = np.empty_like(array)
parts = [bytes(10_000)] * 200
texts = ["x" * 10_000] * 200
triples = np.zeros(40_000, dtype="V24")  # items of no size that NumPy copies without memcpy()
words = np.zeros(20_000, dtype="V100")


def rounds(mark, volume):
    """As many rounds as are wanted; each copies so much."""
    until, times = time.perf_counter() + amount, 0
    while times < amount if kind == "paced" else time.perf_counter() < until:
        yield times
        times += 1
        if kind == "paced":
            time.sleep(0.01)
    truth[mark] = times * volume


def slices():
    for _ in rounds("slice", size - 1):
        part = data[1:]  # slice


def bytearrays():
    for _ in rounds("bytearray", size):
        copied = bytearray(data)  # bytearray


def concatenated_bytes():
    for _ in rounds("bytes + bytes", size + 1):
        both = data + b"!"  # bytes + bytes


def array_copies():
    for _ in rounds("copy", size):
        copied = array.copy()  # copy


def assigned():
    for _ in rounds("assign", size):
        target[:] = array  # assign


def concatenated():
    for _ in rounds("concatenate", 2 * size):
        both = np.concatenate((array, array))  # concatenate


def tobytes():
    for _ in rounds("tobytes", size):
        made = array.tobytes()  # tobytes


def pickled():
    for _ in rounds("pickle", size):
        made = pickle.dumps(array, 5)  # pickle


def small_slices():
    for _ in rounds("small slice", 1_000 * 1_000):
        for start in range(1_000):
            part = data[start:start + 1_000]  # small slice


def joined():
    for _ in rounds("join bytes", 2_000_000):
        made = b"".join(parts)  # join bytes


def joined_text():
    for _ in rounds("join", 2_000_000):
        made = "".join(texts)  # join


def repeated():
    for _ in rounds("repeat", 2 * 960_000):
        made = triples.repeat(2)  # repeat


def repeated_words():
    for _ in rounds("repeat words", 2 * 2_000_000):
        made = words.repeat(2)  # repeat words


def in_thread():
    for start in range(3_000):
        part = data[start:start + 1_000]  # thread


def in_threads():
    for _ in range(int(amount)):
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
        truth["thread"] += 3_000_000


LARGE = [slices, bytearrays, concatenated_bytes, array_copies, assigned, concatenated, tobytes, pickled]
SMALL = [repeated, repeated_words, small_slices, joined, joined_text]  # faster and faster: so is the sampling distance
for copy in {"small": SMALL, "threads": [in_threads]}.get(kind, LARGE):
    copy()
print(json.dumps(truth))
