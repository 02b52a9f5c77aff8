# SPDX-License-Identifier: Apache-2.0
"""Garbage collection, and libraries that are loaded, called and unloaded, again and again beside element loops."""
import _ctypes
import ctypes
import ctypes.util
import gc
import threading

import watch_work

NAMES = [name for name in map(ctypes.util.find_library, ("bz2", "lzma", "panelw", "nsl", "z")) if name]
stop = threading.Event()
counts = {"collected": 0, "loaded": 0}


def load():
    while not stop.is_set():
        for name in NAMES:
            library = ctypes.CDLL(name)
            if name.startswith("libbz2"):
                library.BZ2_bzlibVersion.restype = ctypes.c_char_p
                assert library.BZ2_bzlibVersion()
            handle = library._handle
            del library
            _ctypes.dlclose(handle)
            counts["loaded"] += 1


def collect():
    while not stop.is_set():
        cycle = [[] for _ in range(100)]
        for one in cycle:
            one.append(cycle)
        del cycle, one
        counts["collected"] += gc.collect()


threads = [threading.Thread(target=load), threading.Thread(target=collect)]
for thread in threads:
    thread.start()
print(watch_work.element_loop(6))
stop.set()
for thread in threads:
    thread.join()
assert not NAMES or counts["loaded"] > 15, counts
assert counts["collected"] > 100, counts
print(watch_work.element_loop(6))  # each library that is mapped is charged to the budget of traps: most watches begin here
