# SPDX-License-Identifier: Apache-2.0
"""Forks while memory is watched: the child touches what its parent watches, and both go on."""
import multiprocessing
import os
import threading

import numpy
import watch_work

shared = numpy.arange(1000.0)


def touch():
    """Writes what its parent has been reading."""
    for i in range(len(shared)):
        shared[i] = shared[i] * 2 + 1
    return watch_work.element_loop(1)


def busy():
    total = 0.0
    for _ in range(40):
        for i in range(len(shared)):
            total += shared[i]
    return round(total, 3)


def fork_alone(number):
    child = os.fork()
    if child == 0:
        os._exit(0 if touch() > 0 and shared[3] != 3 else 1)
    print(number, busy(), os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), float(shared[3]))


for number in range(5):
    busy()
    fork_alone(number)
found = []
other = threading.Thread(target=lambda: found.append(watch_work.element_loop(4)))
other.start()
fork_alone("with a thread")
other.join()
print("thread", found)
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(3) as pool:
        print(sorted(pool.map(watch_work.element_loop, [2] * 9)))
    print(busy(), watch_work.element_loop(2))
