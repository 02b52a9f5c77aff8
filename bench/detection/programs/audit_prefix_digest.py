# SPDX-License-Identifier: Apache-2.0
"""An audit log gets a digest after each entry, over all entries so far; every digest starts at the first byte."""

import hashlib
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
USERS = ("ada", "brian", "dennis", "grace", "ken", "margaret")
ACTIONS = ("opened", "changed", "deleted", "shared", "printed")


def entries(random_source, count):
    found = []
    for second in range(count):
        user, action = random_source.choice(USERS), random_source.choice(ACTIONS)
        document = random_source.getrandbits(64)
        found.append(f"{1700000000 + second} {user} {action} document {document:016x}\n".encode())
    return found


def seals(lines):
    log = bytearray()
    found = []
    for line in lines:
        log += line
        found.append(hashlib.sha256(log).digest())  # waste: load
    return found


def seals_fixed(lines):
    state = hashlib.sha256()
    found = []
    for line in lines:
        state.update(line)
        found.append(state.copy().digest())
    return found


def work(repeats, seal):
    random_source = random.Random(113)
    found = []
    for _ in range(repeats):
        digests = seal(entries(random_source, 2000))
        found.append([sum(digest[0] for digest in digests), int.from_bytes(digests[-1][:4], "big")])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, seals), lambda n: work(n, seals_fixed), repeats=80)
