# SPDX-License-Identifier: Apache-2.0
"""Copies by NumPy's own loops, of large and of small arrays, and work that is no copy.

usage: copy_loops.py SECONDS [NAME]...     of each

Prints for each marked line the bytes that it stored and the CPU time that it took.
"""

import json
import sys
import time

import numpy as np

random = np.random.default_rng(7)
f8 = random.random((3000, 3000))
f4 = f8.astype(np.float32)
i8 = random.integers(0, 100, (3000, 3000))
flat = f8.ravel()
index = random.permutation(flat.size)
columns = random.permutation(3000)
mask = flat > 0.5
kept = int(mask.sum())
pixels = random.integers(0, 255, (1500, 1500, 3)).astype(np.uint8)
target = np.zeros((3000, 6000))
big = f8.dtype.newbyteorder(">")
line = random.random(100)
tile = random.random((16, 16))
page = random.random(4096)
sheet = random.random((200, 200))
half_mb = random.random(1 << 17)
some = random.permutation(4096)
square = f8[:600, :600].copy()


def strided():
    return f8[:, ::2].copy().nbytes  # strided


def transposed():
    return f8.T.copy().nbytes  # transposed


def transposed_f4():
    return f4.T.copy().nbytes  # transposed_f4


def narrowed():
    return f8.astype(np.float32).nbytes  # narrowed


def widened():
    return f4.astype(np.float64).nbytes  # widened


def floats_of_integers():
    return i8.astype(np.float64).nbytes  # floats_of_integers


def short_integers():
    return i8.astype(np.int16).nbytes  # short_integers


def swapped():
    return f8.astype(big).nbytes  # swapped


def taken():
    return flat.take(index).nbytes  # taken


def fancy():
    return flat[index].nbytes  # fancy


def fancy_columns():
    return f8[:, columns].nbytes  # fancy_columns


def masked():
    return flat[mask].nbytes  # masked


def scattered():
    target.ravel()[index] = flat  # scattered
    return flat.nbytes


def into_columns():
    target[:, ::2] = f8  # into_columns
    return f8.nbytes


def chosen():
    return np.where(mask, flat, 0.0).nbytes  # chosen


def flipped_pixels():
    return pixels[..., ::-1].copy().nbytes  # flipped_pixels


def planes():
    return pixels.transpose(2, 0, 1).copy().nbytes  # planes


def small_strided():
    for _ in range(500):
        line[::2].copy()  # small_strided
    return 500 * 400


def small_transposed():
    for _ in range(500):
        tile.T.copy()  # small_transposed
    return 500 * tile.nbytes


def small_cast():
    for _ in range(500):
        line.astype(np.float32)  # small_cast
    return 500 * 400


def page_strided():
    for _ in range(200):
        page[::2].copy()  # page_strided
    return 200 * page.nbytes // 2


def page_cast():
    for _ in range(200):
        page.astype(np.float32)  # page_cast
    return 200 * page.nbytes // 2


def page_taken():
    for _ in range(200):
        page.take(some)  # page_taken
    return 200 * page.nbytes


def sheet_transposed():
    for _ in range(20):
        sheet.T.copy()  # sheet_transposed
    return 20 * sheet.nbytes


def half_mb_strided():
    for _ in range(20):
        half_mb[::2].copy()  # half_mb_strided
    return 20 * half_mb.nbytes // 2


def half_mb_cast():
    for _ in range(20):
        half_mb.astype(np.float32)  # half_mb_cast
    return 20 * half_mb.nbytes // 2


def added():
    f8 + 1  # added
    return 0


def multiplied():
    f8 * f8  # multiplied
    return 0


def sine():
    np.sin(flat[:500000])  # sine
    return 0


def sorted_():
    np.sort(flat[:500000])  # sorted_
    return 0


def argsorted():
    np.argsort(flat[:300000])  # argsorted
    return 0


def product():
    square @ square  # product
    return 0


def summed():
    f8.sum(axis=0)  # summed
    return 0


def running_sum():
    flat.cumsum()  # running_sum
    return 0


def compared():
    f8 > 0.5  # compared
    return 0


def absolute():
    np.abs(f8)  # absolute
    return 0


def negated():
    -f8  # negated
    return 0


def clipped():
    np.clip(f8, 0.2, 0.8)  # clipped
    return 0


def counted():
    np.bincount(i8.ravel())  # counted
    return 0


def copied():
    f8.copy()  # copied
    return 0


WORK = [f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", None) == "__main__"]


def main():
    seconds, names, truth = float(sys.argv[1]), sys.argv[2:], {}
    for work in WORK:
        if names and work.__name__ not in names:
            continue
        start, stored = time.process_time(), 0
        while time.process_time() - start < seconds:
            stored += work()
        truth[work.__name__] = [stored, time.process_time() - start]
    print(json.dumps(truth))


main()
