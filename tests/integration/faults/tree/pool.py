# SPDX-License-Identifier: Apache-2.0
"""Workers of a pool that is terminated, and of one whose workers are killed, young and in the middle of their work."""
import multiprocessing
import os
import signal
import sys
import time


def burn(_):
    while True:
        sum(range(10_000))


if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pids = [worker.pid for worker in pool._pool]
        pool.map_async(burn, range(2))
        time.sleep(float(sys.argv[2]))
        if sys.argv[1] == "terminate":
            pool.terminate()
        else:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
            pool._state = multiprocessing.pool.TERMINATE  # or it would start new ones
            time.sleep(0.3)
    print(*pids)
