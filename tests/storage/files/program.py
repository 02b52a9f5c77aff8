# SPDX-License-Identifier: Apache-2.0
"""What the profiles beside this are of: some of everything that a profile keeps."""
import threading
import zlib

kept = []


def work(rounds):
    total = 0
    for i in range(rounds):
        total += i * i % 7
    return total


def pack(text):
    return [zlib.compress(text) for _ in range(20)]


def wait(event):
    event.wait(0.05)


for _ in range(8):
    work(400_000)
    kept.append(bytes(2_000_000))
    kept.append(bytearray(kept[-1]))
    pack(b"one two three " * 5000)
    thread = threading.Thread(target=wait, args=(threading.Event(),), name="waiter")
    thread.start()
    thread.join()
