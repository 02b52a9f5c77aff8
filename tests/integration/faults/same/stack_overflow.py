# SPDX-License-Identifier: Apache-2.0
"""A C stack that runs over."""
import sys
import threading

sys.setrecursionlimit(10**7)


def again(_):
    return list(map(again, [1]))


threading.stack_size(1 << 20)
thread = threading.Thread(target=again, args=(1,))
thread.start()
thread.join()
