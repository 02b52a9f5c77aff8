# SPDX-License-Identifier: Apache-2.0
"""Texts are compressed by Lempel, Ziv and Welch's method and unpacked again, each text with a dictionary of its own.

Codes are appended to lists, which grow as lists do; dictionaries grow word by word. It runs for 60 seconds.
"""

import array
import random

import harness

MOST_CODES = 1 << 16
SINGLE = [bytes((value,)) for value in range(256)]
CODES = {word: code for code, word in enumerate(SINGLE)}


def packed(text):
    """The codes, two bytes each."""
    words = CODES.copy()
    codes, current = [], b""
    for byte in map(SINGLE.__getitem__, text):
        longer = current + byte
        if longer in words:
            current = longer
            continue
        codes.append(words[current])
        if len(words) < MOST_CODES:
            words[longer] = len(words)
        current = byte
    if current:
        codes.append(words[current])
    return array.array("H", codes)


def unpacked(codes):
    words = SINGLE.copy()
    last, parts = b"", []
    for code in codes:
        word = words[code] if code < len(words) else last + last[:1]
        parts.append(word)
        if last and len(words) < MOST_CODES:
            words.append(last + word[:1])
        last = word
    return b"".join(parts)


def text(rng):
    """A report of measurements; its numbers are new each time."""
    place = f"station {rng.randrange(10**6)}"
    lines = [f"{place}; hour {hour}; {rng.gauss(12.0, 5.0):.2f} C; {rng.randrange(101)} %" for hour in range(1000)]
    return "\n".join(lines).encode()


def work(repeats):
    rng = random.Random(507)
    found = []
    for _ in range(repeats):
        plain = text(rng)
        codes = packed(plain)
        if unpacked(codes) != plain:
            raise ValueError("a text was damaged")
        found.append([len(plain), len(codes), sum(codes)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=8000)
