# SPDX-License-Identifier: Apache-2.0
"""Stacks that are hard to unwind (the dynamic linker at work) open no descriptor, and nothing is ever written to the
files that the program opens under numbers that somebody may once have had."""
import _ctypes
import os
import threading
import time


def load_and_unload(seconds):
    """A library comes and goes; what its functions call is bound lazily, each time anew."""
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        handle = _ctypes.dlopen("libreadline.so.8", 1)
        for name, arguments in (("using_history", ()), ("rl_make_keymap", ()), ("add_history", (b"text",)),
                                ("rl_variable_bind", (b"bell-style", b"none")), ("clear_history", ())):
            _ctypes.call_function(_ctypes.dlsym(handle, name), arguments)
        _ctypes.dlclose(handle)


def listing():
    with os.scandir("/proc/self/fd") as found:
        return sorted(int(e.name) for e in found if os.path.exists(e.path))


load_and_unload(0.8)
print(listing())
os.closerange(3, 4096)
written = [os.open(f"file{n}", os.O_RDWR | os.O_CREAT) for n in range(8)]
pipe = os.pipe()
os.set_blocking(pipe[0], False)
thread = threading.Thread(target=load_and_unload, args=(0.8,))  # on a stack that nobody has looked at
thread.start()
thread.join()
print(written, pipe, [os.fstat(fd).st_size for fd in written])
try:
    print(os.read(pipe[0], 100))
except BlockingIOError:
    print("the pipe is empty")
