# SPDX-License-Identifier: Apache-2.0
"""The program runs into breakpoint instructions of its own (INT3), with a handler in C (faulthandler's) in the end."""
import ctypes
import faulthandler
import mmap
import signal

import watch_work

code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
code.write(b"\xcc\xc3")  # int3; ret
breakpoint_here = ctypes.CFUNCTYPE(None)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
seen = []
signal.signal(signal.SIGTRAP, lambda number, frame: seen.append(number))
for _ in range(12):
    watch_work.element_loop(1, 40)
    breakpoint_here()
print([int(n) for n in set(seen)], len(seen))
signal.signal(signal.SIGTRAP, signal.SIG_DFL)
faulthandler.register(signal.SIGTRAP, chain=False)
breakpoint_here()
print(watch_work.element_loop(10), flush=True)
faulthandler.unregister(signal.SIGTRAP)
breakpoint_here()
print("not reached")
