# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: an even pace, and a steady churn of temporary memory beside what they do.

Programs called leak_* let one line's memory pile up, some 25 MB/s of it or what `# LEAKED:` says; that line ends in `#
LEAK`, and what holds the memory is named by a regular expression after `# HOLDER:` where Python knows of a holder.
Nearly all that the marked line allocates stays, but for blocks of other sizes (leak_sizes_*), of which `# BESIDE:`
bytes are there at the end. Programs called fine_* have the same outward shape and do not leak: what they keep is all
there by 60 % of their time.

SECONDS in the environment: how long they run (1.8 by default), at the same pace.
"""

import collections
import os
import time

ROUNDS_PER_S = 100
SECONDS = float(os.environ.get("SECONDS", "1.8"))
COUNT = max(10, round(SECONDS * ROUNDS_PER_S))
STEADY = COUNT * 6 // 10  # what a program keeps is there by this round; most have it at COUNT // 2

recent = collections.deque(maxlen=20)


def churn(number):
    """About a megabyte of short-lived objects, some of which live for 20 rounds."""
    words = [str(n) * 30 for n in range(number, number + 500)]
    rows = [{"name": word, "size": len(word), "tags": [word[:9], word[9:40]]} for word in words]
    packet = bytearray(300_000)
    blocks = [bytes(2_000) for _ in range(100)]
    recent.append((rows[::50], blocks[::20], packet[:10_000]))
    return len(rows), len(packet), len(blocks)


def rounds():
    """Numbers from 0, one each hundredth of a second with its churn before it."""
    begun = time.monotonic()
    for number in range(COUNT):
        churn(number)
        time.sleep(max(0.0, begun + number / ROUNDS_PER_S - time.monotonic()))
        yield number
