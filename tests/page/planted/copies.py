# SPDX-License-Identifier: Apache-2.0
"""Puts a message together of its blocks, and copies all that is there for each block."""

import hashlib

BLOCKS, BLOCK = 1200, 1000


def blocks():
    for n in range(BLOCKS):
        yield hashlib.sha256(str(n).encode()).digest() * (BLOCK // 32)


def message():
    whole = b""
    for block in blocks():
        whole = whole + block  # planted
    return whole


print(hashlib.sha256(message()).hexdigest()[:16])
