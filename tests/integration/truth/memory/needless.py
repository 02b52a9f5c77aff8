# SPDX-License-Identifier: Apache-2.0
"""needless.py SECONDS [WHAT ...]: lines that copy arrays or bytes, and what becomes of source and copy; each for that
much CPU time. Says how many bytes each line has copied."""

import concurrent.futures
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


def refill(data, turn):
    """The kernel writes a part of the source: all of it takes fifty times as long as the copy, of which few are met."""
    frozen = bytes(data)  # refill
    with open(RANDOM, "rb", buffering=0) as file:
        file.readinto(memoryview(data)[:len(data) // 20])
    return frozen[-1]


def hand_over(array, turn):
    """Another thread writes the copy."""
    copy = array.copy()  # hand_over
    return POOL.submit(copy.__setitem__, turn % ITEMS, -1).result()


def let_go(array, turn):
    """Another thread drops the copy."""
    held = [array.copy()]  # let_go
    return POOL.submit(held.clear).result()


RANDOM = "/dev/urandom"
POOL = concurrent.futures.ThreadPoolExecutor(1)
OF_ARRAYS = [read, same_type, part, write_copy, write_one, write_alike, write_source, restore, half, keep_part, append,
             hand_over, let_go]
OF_BYTES, OF_BYTEARRAYS = [join, cut], [freeze, freeze_change, refill]


def data_of(what):
    if what in OF_ARRAYS:
        return numpy.arange(ITEMS, dtype=float)
    return (bytes if what in OF_BYTES else bytearray)(bytes(range(256)) * (ITEMS // 32))


def main():
    seconds, names, said = float(sys.argv[1]), sys.argv[2:], {}
    for what in OF_ARRAYS + OF_BYTES + OF_BYTEARRAYS:
        if names and what.__name__ not in names:
            continue
        data, turns, until = data_of(what), 0, time.process_time() + seconds
        while time.process_time() < until:
            what(data, turns)
            turns += 1
        said[what.__name__] = turns * ITEMS * 8
    print(json.dumps(said))


main()
