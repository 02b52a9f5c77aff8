# SPDX-License-Identifier: Apache-2.0
"""Objects that own native memory and go without freeing it."""

import ctypes

from pace import rounds

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]


class Handle:
    def __init__(self, size):
        self.address = libc.malloc(size)  # LEAK
        ctypes.memset(self.address, 1, size)


for number in rounds():
    for _ in range(25):
        Handle(10_000)
