# SPDX-License-Identifier: Apache-2.0
"""Copies of known volume, each on a line of its own, one after another.

usage: copies.py

Prints the bytes that each marked line copies.
"""

import json
import pickle

import numpy as np

MB = 1 << 20
truth = {}

data = bytes(2 * MB)
array = np.arange(MB // 4, dtype=np.float64)  # 2 MB
target = np.empty_like(array)
parts = [bytes(10_000)] * 200
texts = ["x" * 10_000] * 200
numbers = np.arange(100_000, dtype=np.float64)
words = np.zeros(20_000, dtype="V100")


def slices(times):
    for _ in range(times):
        part = data[1:]  # slice
    truth["slice"] = times * (2 * MB - 1)


def small_slices(times):
    for start in range(times):
        part = data[start:start + 1_000]  # small slice
    truth["small slice"] = times * 1_000


def bytearrays(times):
    for _ in range(times):
        copied = bytearray(data)  # bytearray
    truth["bytearray"] = times * 2 * MB


def concatenated_bytes(times):
    for _ in range(times):
        both = data + b"!"  # bytes + bytes
    truth["bytes + bytes"] = times * (2 * MB + 1)


def array_copies(times):
    for _ in range(times):
        copied = array.copy()  # copy
    truth["copy"] = times * 2 * MB


def assigned(times):
    for _ in range(times):
        target[:] = array  # assign
    truth["assign"] = times * 2 * MB


def concatenated(times):
    for _ in range(times):
        both = np.concatenate((array, array))  # concatenate
    truth["concatenate"] = times * 4 * MB


def tobytes(times):
    for _ in range(times):
        made = array.tobytes()  # tobytes
    truth["tobytes"] = times * 2 * MB


def pickled(times):
    for _ in range(times):
        made = pickle.dumps(array, 5)  # pickle
    truth["pickle"] = times * 2 * MB


def joined(times):
    for _ in range(times):
        made = b"".join(parts)  # join bytes
    truth["join bytes"] = times * 2_000_000


def joined_text(times):
    for _ in range(times):
        made = "".join(texts)  # join
    truth["join"] = times * 2_000_000


def repeated(times):
    for _ in range(times):
        made = np.repeat(numbers, 2)  # repeat
    truth["repeat"] = times * 2 * 800_000


def repeated_words(times):
    for _ in range(times):
        made = np.repeat(words, 2)  # repeat words
    truth["repeat words"] = times * 2 * 2_000_000


slices(150)
small_slices(400_000)
bytearrays(150)
concatenated_bytes(150)
array_copies(150)
assigned(150)
concatenated(75)
tobytes(150)
pickled(150)
joined(200)
joined_text(200)
repeated(250)
repeated_words(100)
print(json.dumps(truth))
