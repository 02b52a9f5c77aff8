# SPDX-License-Identifier: Apache-2.0
"""Code made at run time at the place of a library, and the library at its place again: generated_place.py LIBRARY NAME
SECONDS.

Each is called for so much CPU time: the library, a copy of its function's page at the same address, the library again.
Prints how much each took, and whether all were at one place."""

import ctypes
import json
import mmap
import sys
import time

path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
libc = ctypes.CDLL(None, use_errno=True)
libc.dlclose.argtypes = [ctypes.c_void_p]
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mmap.restype = ctypes.c_void_p
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
PAGE = mmap.PAGESIZE
MAP_FIXED_NOREPLACE = 0x100000


def call(work):
    begin = time.thread_time()
    while time.thread_time() - begin < seconds:
        work(100_000)
    return time.thread_time() - begin


def spans():
    """Where the library is mapped: from, to, permissions."""
    for line in open("/proc/self/maps"):
        fields = line.split()
        if fields[-1] == path:
            begin, end = (int(text, 16) for text in fields[0].split("-"))
            yield begin, end, fields[1]


def call_library():
    library = ctypes.CDLL(path)
    work = getattr(library, name)
    work.argtypes = [ctypes.c_long]
    place = ctypes.cast(work, ctypes.c_void_p).value
    cpu_s = call(work)
    image = [(begin, ctypes.string_at(begin, end - begin), permissions) for begin, end, permissions in spans()]
    assert libc.dlclose(library._handle) == 0
    return place, image, cpu_s


def call_copy(place, image):
    for begin, content, permissions in image:
        mapped = libc.mmap(begin, len(content), mmap.PROT_READ | mmap.PROT_WRITE,
                           mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0)
        assert mapped == begin, ctypes.get_errno()
        ctypes.memmove(mapped, content, len(content))
        if "x" in permissions:
            assert libc.mprotect(mapped, len(content), mmap.PROT_READ | mmap.PROT_EXEC) == 0
    cpu_s = call(ctypes.CFUNCTYPE(None, ctypes.c_long)(place))
    for begin, content, _ in image:
        assert libc.munmap(begin, len(content)) == 0
    return cpu_s


first = call_library()
generated_s = call_copy(*first[:2])
second = call_library()
print(json.dumps({"library_s": [first[2], second[2]], "generated_s": generated_s, "one_place": first[0] == second[0]}))
