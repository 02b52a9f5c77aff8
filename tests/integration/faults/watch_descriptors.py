# SPDX-License-Identifier: Apache-2.0
"""The program looks at its descriptors, closes all of them, lowers their limit, and opens its own, between much work.

usage: watch_descriptors.py [look]   look: which numbers are open is printed too"""
import os
import resource
import sys

import watch_work


def look():
    if "look" in sys.argv:
        print(sorted(map(int, os.listdir("/proc/self/fd"))), os.dup(0))


print(watch_work.element_loop(3))
look()
os.closerange(3, 4096)
print(watch_work.element_loop(3))
look()
mine = [os.open("/dev/null", os.O_RDWR) for _ in range(5)]
for number in (4000, 3999, 3600, 1023, 1000):
    try:
        os.dup2(mine[0], number)
    except OSError as error:
        print(number, error)
print(watch_work.element_loop(3), [os.write(number, b"x") for number in mine])
os.closerange(900, 4096)
print(watch_work.element_loop(2))
look()
os.closerange(3, 4096)
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
for limit in (min(64, hard), 12, 5):
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    print(limit, watch_work.element_loop(2))
opened = []
try:
    while True:
        opened.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error:
    print(error, opened if "look" in sys.argv else "")
