# SPDX-License-Identifier: Apache-2.0
"""A sawtooth of known height; other lines hold memory before, during and after it.

usage: teeth.py ramp|spikes|threads|small SCALE        (SCALE 0: the same program without the memory)

Prints the bytes that are alive at the peak, by the lines' marks; those named EARLY and LATE hold none then.
"""

import json
import sys
import threading
import time

MB = 1 << 20
HOLD = 0.03  # s at the top of a tooth, where it is no spike
shape, scale = sys.argv[1], float(sys.argv[2])


def set_aside(count, size):
    """What the allocators set aside for blocks(): for each the object itself and its place in the list, too. From 3.15
    on a bytearray keeps its bytes in a bytes object."""
    header = sys.getsizeof(b"") - 1 if sys.version_info >= (3, 15) else 0
    return count * (size + header + 8 + 64 + 8)


def blocks(count, size, pause=0.0):
    """A list of bytearrays; alive as long as the list is."""
    made = []
    for _ in range(int(count * scale)):
        made.append(bytearray(size - 1))  # TOOTH
        if pause and len(made) % 4 == 0:
            time.sleep(pause)
    return made


def ramp():
    """Teeth of blocks of 64 KiB, 0.3 s long."""
    for height in (60, 100, 80):
        tooth = blocks(height * 16, MB // 16, 0.0002)
        time.sleep(HOLD)
        del tooth
    return set_aside(1600, MB // 16)


def small():
    """Teeth of blocks of 1 KiB, as fast as they come."""
    for height in (60, 100, 80):
        tooth = blocks(height * 1024, 1024)
        time.sleep(HOLD)
        del tooth
    return set_aside(102_400, 1024)


def spikes():
    """One block for 5 ms at a time."""
    for height in (60, 90, 120, 70, 110):
        spike = blocks(1, height * MB)
        time.sleep(0.005)
        del spike
        time.sleep(0.02)
    return 120 * MB


def threads():
    """Four threads, each with a fourth of the tooth; all are at its top together."""
    top = threading.Barrier(4)

    def climb():
        for height in (15, 25, 20):
            top.wait()
            part = blocks(height * 16, MB // 16, 0.0002)
            top.wait()
            del part

    running = [threading.Thread(target=climb) for _ in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return set_aside(1600, MB // 16)


early = bytearray(int(50 * MB * scale))  # EARLY
time.sleep(HOLD)
del early
time.sleep(HOLD)
base = [bytearray(int(MB * scale)) for _ in range(30)]  # BASE
height = {"ramp": ramp, "small": small, "spikes": spikes, "threads": threads}[shape]()
late = bytearray(int(40 * MB * scale))  # LATE
time.sleep(HOLD)
print(json.dumps({"TOOTH": int(height * scale), "BASE": int(30 * MB * scale), "EARLY": 0, "LATE": 0}))
