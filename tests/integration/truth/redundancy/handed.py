# SPDX-License-Identifier: Apache-2.0
"""What libraries are handed without need, and lists that are searched in turn. Arguments: CPU seconds of each part, and
the parts."""

import os
import struct
import sys
import time

import numpy as np

WORDS = [f"Word {number}" for number in range(400)]
SHELVES = [[f"{shelf} {number}" for number in range(300 + shelf)] for shelf in range(3)]
PLACES, VALUES = [0.5 * place for place in range(400)], [place**0.5 for place in range(400)]
AS_ARRAYS = np.array(PLACES), np.array(VALUES)
RECORDS = np.random.default_rng(2).integers(256, size=8000, dtype=np.uint8).tobytes()
BLOCK = np.random.default_rng(1).normal(size=(40, 400))
ROW = BLOCK[0].tolist()


def lists(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            np.interp(number % 200, PLACES, VALUES)  # lists


def arrays(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            np.interp(number % 200, *AS_ARRAYS)  # arrays


def other_lists(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            values = VALUES.copy()
            values[number % 400] = number
            np.interp(number % 200, PLACES, values)  # other_lists


def zeros(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            scale = np.diag(np.arange(number, number + 400.0))
            BLOCK @ scale  # zeros


def dot(left, right):
    return left is right


def own_dot(end):
    """A function of the program's own is no product of whole arrays, whatever its name is."""
    scales = [np.diag(np.arange(number, number + 400.0)) for number in range(8)]
    while time.thread_time() < end:
        for scale in scales * 50:  # the clock takes as long as twenty calls
            dot(BLOCK, scale)  # own_dot


def positive(end):
    """Half of such an array is zero, as behind an activation: that is no waste."""
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            BLOCK @ np.maximum(BLOCK.T[:, : number % 30 + 3], 0.0)  # positive


def systems(end):
    """Three diagonals of 200 rows."""
    while time.thread_time() < end:
        for number in range(20):
            matrix = np.diag(np.full(200, 4.0 + number)) + np.diag(np.ones(199), 1) + np.diag(np.ones(199), -1)
            np.linalg.solve(matrix, BLOCK[0, :200])  # systems


def full(end):
    while time.thread_time() < end:
        for number in range(20):
            matrix = BLOCK[:, :40] + 9.0 * np.eye(40) + number
            np.linalg.solve(np.kron(np.ones((5, 5)) + 5.0 * np.eye(5), matrix), BLOCK[0, :200])  # full


def torch_and_end(end):
    """With as much time, as the import takes long."""
    began = time.thread_time()
    import torch

    return torch, end + time.thread_time() - began


def tensors(end):
    torch, end = torch_and_end(end)
    while time.thread_time() < end:
        for number in range(20):
            torch.tensor([BLOCK[0] + number, BLOCK[1] - number])  # tensors


def stacked(end):
    torch, end = torch_and_end(end)
    while time.thread_time() < end:
        for number in range(20):
            torch.tensor(np.stack([BLOCK[0] + number, BLOCK[1] - number]))  # stacked


def mixed(end):
    torch, end = torch_and_end(end)
    while time.thread_time() < end:
        for number in range(20):
            torch.tensor([BLOCK[0] + number, ROW])  # mixed


def turns(end):
    number = 0
    while time.thread_time() < end:
        for _ in range(20):
            number += 1
            for shelf in SHELVES:
                f"2 {number % 300}" in shelf  # turns


def numbers(end):
    """Other records in each round, or it would be true as well that all of it is computed again."""
    while time.thread_time() < end:
        data = os.urandom(8000)
        [int.from_bytes(data[place : place + 2], "big") for place in range(0, len(data), 4)]  # numbers


def unpacked(end):
    while time.thread_time() < end:
        data = os.urandom(8000)
        [struct.unpack("<H", data[place : place + 2]) for place in range(0, len(data), 4)]  # unpacked


def pairs(end):
    """Two numbers a call: that such a line makes one each would not be true."""
    while time.thread_time() < end:
        [struct.unpack("<HH", RECORDS[place : place + 4]) for place in range(0, len(RECORDS), 4)]  # pairs


def records(end):
    """Each record says how long it is, so where the next one begins."""
    while time.thread_time() < end:
        place = 0
        while place < len(RECORDS):
            place += 2 + int.from_bytes(RECORDS[place : place + 2], "big") % 4  # records


def shown(number):
    return f"{number:,.2f}"


def silent(end):
    """The hot line makes no call, but is reached by millions of them."""
    while time.thread_time() < end:
        sum(map(len, map(shown, VALUES * 20)))


if __name__ == "__main__":
    for part in sys.argv[2:]:
        globals()[part](time.thread_time() + float(sys.argv[1]))
