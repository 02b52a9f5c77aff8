# SPDX-License-Identifier: Apache-2.0
"""Work with arrays in pools of each start method."""

import multiprocessing
import time

import numpy as np
from descriptors import descriptors


def work(seed):
    numbers = np.random.default_rng(seed).random((300, 300))
    for _ in range(5):
        numbers = numbers @ numbers / np.linalg.norm(numbers)
    return float(numbers.sum().round(9))


def own_descriptors(_):
    time.sleep(0.5)  # so that the other one takes the other task
    return descriptors()


if __name__ == "__main__":
    for method in "fork", "spawn", "forkserver":
        with multiprocessing.get_context(method).Pool(2) as pool:
            print(method, sum(pool.map(work, range(10))))
            print(sorted(pool.map(own_descriptors, range(2), chunksize=1)))
            pool.close()
            pool.join()
    print(descriptors())
