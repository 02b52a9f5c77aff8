# SPDX-License-Identifier: Apache-2.0
"""shifting.py WHAT: lines that move all items of a list or an array with each call, and lines that look as if they did.
Says how many bytes they have moved."""

import array
import collections
import json
import random
import sys

ITEMS = 50000
MOVED_BYTES = 8 * ITEMS**2 // 2


def pop(say):
    waiting = list(range(ITEMS))
    while waiting:
        waiting.pop(0)  # pop
    say(MOVED_BYTES)


def delete(say):
    waiting = list(range(ITEMS))
    while waiting:
        del waiting[:1]  # delete
    say(MOVED_BYTES)


def put(say):
    heights = array.array("d")
    for number in range(ITEMS):
        heights.insert(0, number)  # put
    say(MOVED_BYTES)


def few(say):
    """A short list is moved in no time."""
    waiting = list(range(100))
    for number in range(400000):
        waiting.append(waiting.pop(0))  # few


def end(say):
    for _ in range(20):
        waiting = list(range(ITEMS))
        while waiting:
            waiting.pop()  # end


def deque(say):
    for _ in range(20):
        waiting = collections.deque(range(ITEMS))
        while waiting:
            waiting.popleft()  # deque


def halves(say):
    """What is moved is as much as what goes."""
    for _ in range(400):
        waiting = list(range(400000))
        while waiting:
            del waiting[: len(waiting) // 2 + 1]  # halves


def merge(say):
    """Sorted parts, which sort() moves as wholes."""
    choose = random.Random(1)
    parts = [sorted(choose.random() for _ in range(50000)) for _ in range(4)]
    for _ in range(20):
        whole = [number for part in parts for number in part]
        whole.sort()  # merge


SHIFT = {"pop": pop, "delete": delete, "put": put}
DO_NOT = {"few": few, "end": end, "deque": deque, "halves": halves, "merge": merge}

if __name__ == "__main__":
    (SHIFT | DO_NOT)[sys.argv[1]](lambda moved: print(json.dumps({"bytes": moved})))
