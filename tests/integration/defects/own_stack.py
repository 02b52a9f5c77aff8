# SPDX-License-Identifier: Apache-2.0
"""A program with an alternate signal stack of its own.

    own_stack.py small SECONDS      works with one of 2 KiB more than a signal's frame on each of two threads, with a
                                    guard page below
    own_stack.py paint SECONDS      prints the bytes of its stack that a signal's frame takes, and all that were used
    own_stack.py answers SECONDS    prints the answers of sigaltstack() and of its own handlers
"""

import ctypes
import pathlib
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
try:
    import watch_work
except ImportError:  # no NumPy: then nothing of it is watched
    watch_work = None

PAGE = 4096
PAINT = 0xA5
SA_ONSTACK = 0x08000000
AT_MINSIGSTKSZ = 51
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]


class Stack(ctypes.Structure):
    _fields_ = [("low", ctypes.c_void_p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]


class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("mask", ctypes.c_ulong * 16), ("flags", ctypes.c_int), ("restorer", ctypes.c_void_p)]


def set_stack(size):
    """Makes it this thread's; returns its lowest address."""
    low = libc.mmap(None, size + PAGE, 3, 0x22, -1, 0)
    libc.mprotect(ctypes.c_void_p(low), PAGE, 0)
    stack = Stack(low + PAGE, 0, size)
    assert libc.sigaltstack(ctypes.byref(stack), None) == 0
    return stack.low


def get_stack():
    stack = Stack()
    assert libc.sigaltstack(None, ctypes.byref(stack)) == 0
    return stack


def on_signal(number, function):
    action = Action(ctypes.cast(function, ctypes.c_void_p).value, flags=SA_ONSTACK)
    assert libc.sigaction(number, ctypes.byref(action), None) == 0


def recurse(depth):
    return recurse(depth - 1) if depth else [bytes(i) for i in range(300)]


def compute(seconds):
    """All that the profiler looks at: deep stacks, code that is new, native calls, memory that comes and goes."""
    end, turn = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        recurse(turn % 40)
        names = {}
        exec(f"def g{turn}(x):\n return sorted([x, 1, 2])\ng{turn}(3)", names)
        sum(i * i for i in range(2000))
        if watch_work and turn % 20 == 0:
            watch_work.element_loop(1, 100, 200)
        turn += 1


def small(seconds):
    libc.getauxval.restype = ctypes.c_ulong
    least = libc.getauxval(AT_MINSIGSTKSZ) or 4096

    def run():
        set_stack((least + 2048 + 15) // 16 * 16)
        compute(seconds)

    thread = threading.Thread(target=run)
    thread.start()
    run()
    thread.join()
    print("survived")


def paint(seconds):
    size = 1 << 16
    low = set_stack(size)
    memory = (ctypes.c_ubyte * size).from_address(low)

    def used():
        return size - next((i for i, byte in enumerate(bytes(memory)) if byte != PAINT), size)

    on_signal(signal.SIGUSR2, libc.abs)  # a function that needs nothing: what is left is the kernel's frame
    frames = []
    for _ in range(20):
        ctypes.memset(low, PAINT, size)
        signal.raise_signal(signal.SIGUSR2)
        frames.append(used())
    ctypes.memset(low, PAINT, size)
    compute(seconds)
    print(min(frames), used())  # in the others a sample was taken meanwhile


def answers(seconds):
    size = 1 << 18
    low = set_stack(size)
    seen = set()

    @ctypes.CFUNCTYPE(None, ctypes.c_int)
    def handler(number):
        stack = get_stack()
        compute(0.05)
        after = get_stack()
        seen.add((number, stack.low == after.low == low, stack.size == after.size == size, stack.flags, after.flags))

    for number in (signal.SIGUSR1, signal.SIGSEGV, signal.SIGTRAP):
        on_signal(number, handler)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        compute(0.05)
        for number in (signal.SIGUSR1, signal.SIGSEGV, signal.SIGTRAP):
            libc["raise"](number)
        stack = get_stack()
        seen.add((0, stack.low == low, stack.size == size, stack.flags, stack.flags))
    print(sorted((int(number), *rest) for number, *rest in seen))


{"small": small, "paint": paint, "answers": answers}[sys.argv[1]](float(sys.argv[2]))
