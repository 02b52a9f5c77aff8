# SPDX-License-Identifier: Apache-2.0
"""Pools of each kind."""
import multiprocessing
import os


def square(x):
    sum(range(100_000))
    return x * x


if __name__ == "__main__":
    for kind in ("fork", "spawn", "forkserver"):
        with multiprocessing.get_context(kind).Pool(2) as pool:
            print(kind, pool.map(square, range(10)))
    process = multiprocessing.Process(target=os._exit, args=(17,))
    process.start()
    process.join()
    print(process.exitcode)
