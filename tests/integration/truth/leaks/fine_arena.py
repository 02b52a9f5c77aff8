# SPDX-License-Identifier: Apache-2.0
"""An arena that grows by chunks to what the largest of the batches needs, and is reset after each."""

from pace import COUNT, rounds

CHUNK = 500_000
chunks, used = [], 0


def allocate(size):
    global used
    if used + size > len(chunks) * CHUNK:
        chunks.append(bytearray(CHUNK))
    used += size
    return chunks[-1]


for number in rounds():
    if number % (COUNT // 6) == 0:
        used = 0
    for _ in range(10):
        allocate(100_000)
