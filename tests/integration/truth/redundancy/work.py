# SPDX-License-Identifier: Apache-2.0
"""work.py SECONDS_OF_EACH NAME...: what built-in types and the standard library's C modules do for a line, where a
better call does the same, and where none does. Seconds are of CPU time. Says how long each one took."""
import array
import csv
import itertools
import json
import re
import struct
import sys
import time

SECONDS, CHOSEN = float(sys.argv[1]), sys.argv[2:]
TEXT = "".join("ACGTTGCA"[i * 7919 >> 3 & 7] for i in range(2000))
BYTES = array.array("B", [i * 7919 >> 4 & 255 for i in range(2000)])
NUMBERS = [i * 7919 % 10007 for i in range(2000)]
TABLE = dict(enumerate(NUMBERS))
WORDS = [f"word{i * 7919 % 1009}" for i in range(400)]
PAGE = " ".join(WORDS)
MANY = [re.compile(rf"\b{word}\b") for word in WORDS[:60]]
FEW = [re.compile(rf"\b{word}\b") for word in WORDS[:3]]
LINES = [f"{i},ward {i % 40},party {i % 7}" for i in range(500)]
BLOCK = b"".join(struct.pack("<Ih", i, i % 1000) for i in range(500))


def joined():
    moves = ()
    for i in range(8000):
        moves = moves + (i,)  # joined


def chosen():
    waiting = [(number, -i) for i, number in enumerate(NUMBERS[:300])]
    for i in range(5000):
        first = min(waiting)  # chosen
        waiting.remove(first)
        waiting.append((first[0] + i, i))


def patterns():
    for pattern in MANY:
        pattern.sub("x", PAGE)  # patterns


def skipped():
    for start in range(0, 1900, 20):
        list(itertools.islice(NUMBERS, start, start + 5))  # skipped


def fields():
    for start in range(0, len(BLOCK), 6):
        number = struct.unpack_from("<I", BLOCK, start)[0]  # first field
        value = struct.unpack_from("<h", BLOCK, start + 4)[0]  # second field
    return number, value


def reader():
    for line in LINES:
        next(csv.reader([line]))  # reader


def counted():
    count = 0
    for i in range(len(TEXT)):
        if TEXT[i] in "GC":  # counted
            count += 1
    return count


def summed():
    total, most = 0, 0
    for i in range(10, 1990):
        total += BYTES[i]  # summed
        if BYTES[i] > most:  # greatest
            most = BYTES[i]
    return total, most


def filled():
    row = bytearray(2000)
    for x in range(10, 1990):
        row[x] = 255  # filled


def sieve():
    table = [True] * 2000
    for step in range(2, 40):
        for i in range(2 * step, 2000, step):
            table[i] = False  # sieve


def copied():
    copy = array.array("B", BYTES)
    for i in range(10, 1990):
        copy[i] = BYTES[i]  # copied


def appended():
    moves = []
    for i in range(3000):
        moves.append(i)  # appended


def made_anew():
    for i in range(60):
        min([number * i for number in NUMBERS[:200]])  # made anew


def two_lists():
    for i in range(300):
        min(NUMBERS, WORDS, key=len)  # two lists


def few_patterns():
    page = f"{time.process_time()} {PAGE}"
    for pattern in FEW:
        pattern.sub("x", page)  # few patterns


def from_the_start():
    for count in range(20, 1900, 20):
        list(itertools.islice(NUMBERS, count))  # from the start


def whole_records():
    for start in range(0, len(BLOCK), 6):
        struct.unpack_from("<Ih", BLOCK, start)  # whole records


def one_field():
    at = 0
    while at < len(BLOCK):
        at += 6 + 0 * struct.unpack_from("<I", BLOCK, at)[0]  # one field


def one_reader():
    for _ in csv.reader(LINES):  # one reader
        pass


def recurrence():
    digest = 0
    for i in range(len(BYTES)):
        digest = digest * 31 + BYTES[i] & 0xFFFFFFFF  # recurrence
    return digest


def runs():
    runs, before = 0, ""
    for i in range(len(TEXT)):
        if TEXT[i] != before:  # runs
            runs += 1
        before = TEXT[i]
    return runs


def record():
    index = 0
    for i in range(len(NUMBERS)):
        if NUMBERS[i] > index:  # a limit that is counted up
            index += 1
    return index


def called():
    total = 0
    for i in range(len(TEXT)):
        total += ord(TEXT[i])  # called
    return total


def a_dict():
    total = 0
    for i in range(len(TABLE)):
        total += TABLE[i]  # a dict
    return total


def short():
    for start in range(0, 1900, 4):
        total = 0
        for i in range(start, start + 4):
            total += NUMBERS[i]  # short


def written():
    copy = [0] * len(NUMBERS)
    for i in range(1, len(NUMBERS)):
        copy[i] = copy[i - 1] + NUMBERS[i]  # written


def sums():
    total, sums = 0, [0] * len(NUMBERS)
    for i in range(len(NUMBERS)):
        total += NUMBERS[i]
        sums[i] = total  # sums


def worked_out():
    copy = [0] * len(NUMBERS)
    for i in range(len(NUMBERS)):
        copy[i] = NUMBERS[i] * 3  # worked out


def set_sometimes():
    copy = list(NUMBERS)
    for i in range(len(NUMBERS)):
        if NUMBERS[i] > 5000:
            copy[i] = 0  # set sometimes


def filled_dict():
    table = {}
    for i in range(2000):
        table[i] = None  # filled dict


def short_fill():
    row = bytearray(2000)
    for start in range(0, 1900, 4):
        for x in range(start, start + 4):
            row[x] = 255  # short fill


def measure(function):
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        function()


for name in CHOSEN:
    measure(globals()[name])
print(json.dumps({"seconds": SECONDS}))
