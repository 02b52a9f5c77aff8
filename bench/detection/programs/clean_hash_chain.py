# SPDX-License-Identifier: Apache-2.0
"""A log that cannot be changed unseen: each entry is hashed with the hash of the one before it.

The same function is called each time, always with another input; the objects of one length lie in the same memory.
"""

import hashlib
import random

import harness

ENTRIES = 2000


def entries(rng):
    for number in range(ENTRIES):
        yield f"{number} account {rng.randrange(10**6)} pays {rng.randrange(10**5)}".encode()


def zeros_in_front(digest):
    return 256 - int.from_bytes(digest, "big").bit_length()


def chain(seed, rng):
    """The hash at its end, and the most zeros that any hash of it begins with."""
    digest = hashlib.sha256(seed).digest()
    most = 0
    for entry in entries(rng):
        digest = hashlib.sha256(digest + entry).digest()
        most = max(most, zeros_in_front(digest))
    return digest, most


def work(repeats):
    rng = random.Random(203)
    found, digest = [], b"first"
    for _ in range(repeats):
        digest, most = chain(digest, rng)
        found.append([most, digest[0], digest[-1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1150)
