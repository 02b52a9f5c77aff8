# SPDX-License-Identifier: Apache-2.0
"""A library's function is patched: patched.py LIBRARY SECONDS.

For so much CPU time it loads a word, and then, with the other kernel in its place, it stores other values there."""

import ctypes
import json
import mmap
import sys
import time

library, seconds = ctypes.CDLL(sys.argv[1]), float(sys.argv[2])
libc = ctypes.CDLL(None)
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
kernel = library.patched
kernel.argtypes = [ctypes.c_long, ctypes.c_void_p]
word = ctypes.create_string_buffer(b"12345678", 64)


def address(function):
    return ctypes.cast(function, ctypes.c_void_p).value


def load():
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(50):
            kernel(500, word)  # loads


def store():
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        for _ in range(50):
            kernel(500, word)  # stores


load()
place = address(kernel)
assert libc.mprotect(place, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_WRITE) == 0
ctypes.memmove(place, address(library.patch), 64)
assert libc.mprotect(place, mmap.PAGESIZE, mmap.PROT_READ | mmap.PROT_EXEC) == 0
store()
print(json.dumps({}))
