# SPDX-License-Identifier: Apache-2.0
"""Four workers store what they worked out, and each writes its file while it holds the lock of all.

usage: lock.py FOLDER
"""

import pathlib
import sys
import threading
import time

store_lock = threading.Lock()
stored = {}


def write_slowly(path, text):
    path.write_text(text)
    time.sleep(0.02)  # as a disk far away does


def store(folder, name, value):
    with store_lock:  # planted
        stored[name] = value
        write_slowly(folder / name, str(value))


def work(folder, worker):
    for turn in range(12):
        store(folder, f"{worker}-{turn}", sum(n * n for n in range(5000)))


def main():
    folder = pathlib.Path(sys.argv[1])
    workers = [threading.Thread(target=work, args=(folder, n), name=f"worker-{n}") for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(len(stored))


main()
