# SPDX-License-Identifier: Apache-2.0
"""needless.py WHAT SECONDS: lines that copy arrays or bytes, and what becomes of source and copy. Says how many copies
the line made, and how many bytes."""

import json
import sys
import time

import numpy

ITEMS = 40000


def read(array, turn):
    copy = array.copy()  # read
    return copy[:: ITEMS // 64].sum() + array[0]


def same_type(array, turn):
    copy = array.astype(array.dtype)  # same_type
    return copy[:: ITEMS // 64].sum()


def part(array, turn):
    copy = array[1000:-1000].copy()  # part
    return copy[:: ITEMS // 64].sum()


def write_copy(array, turn):
    copy = array.copy()  # write_copy
    copy += 1
    return copy[0]


def write_one(array, turn):
    """One element of many."""
    copy = array.copy()  # write_one
    copy[turn * 7919 % ITEMS] = -1
    return copy[0]


def write_alike(array, turn):
    """Values that are there already: only a register sees that."""
    copy = array.copy()  # write_alike
    copy[:] = numpy.abs(array)
    return copy[0]


def write_source(array, turn):
    """The copy keeps what the source was."""
    copy = array.copy()  # write_source
    array += 1
    return copy[0]


def restore(array, turn):
    """The source is written and gets its values back."""
    copy = array.copy()  # restore
    array.fill(turn)
    array[:] = copy
    return array[0]


def half(array, turn):
    copy = array.copy()  # half
    if turn % 2:
        copy += 1
    return copy[0]


def keep_part(array, turn):
    """The copy is there to let a larger array go."""
    large = numpy.repeat(array, 4)
    small = large[:ITEMS].copy()  # keep_part
    del large
    return small[0]


def append(array, turn):
    return numpy.append(array, turn + 1.5)[-1]  # append


def join(data, turn):
    return b"".join([b"header %7d" % turn, data])[3]  # join


def cut(data, turn):
    return data[100:][-1]  # cut


def freeze(data, turn):
    return bytes(data)[-1]  # freeze


def freeze_change(data, turn):
    frozen = bytes(data)  # freeze_change
    data[turn % len(data)] ^= 1
    return frozen[-1]


def main():
    what, seconds = globals()[sys.argv[1]], float(sys.argv[2])
    data = numpy.arange(ITEMS, dtype=float)
    if what in (join, cut):
        data = bytes(range(256)) * (ITEMS // 32)
    elif what in (freeze, freeze_change):
        data = bytearray(range(256)) * (ITEMS // 32)
    turns, until = 0, time.monotonic() + seconds
    while time.monotonic() < until:
        what(data, turns)
        turns += 1
    print(json.dumps({"copies": turns, "bytes": turns * ITEMS * 8}))


main()
