# SPDX-License-Identifier: Apache-2.0
"""Workers that are started once, each with its scratch memory, and a list of the last results."""

import collections
import concurrent.futures
import threading

from pace import COUNT, rounds

local = threading.local()
results = collections.deque(maxlen=COUNT * 4 // 10)


def start():
    local.scratch = bytearray(2_000_000)


def work(number):
    local.scratch[number % 1000] = 1
    return bytes(local.scratch[:200_000])


with concurrent.futures.ThreadPoolExecutor(4, initializer=start) as pool:
    for number in rounds():
        results.append(pool.submit(work, number))
