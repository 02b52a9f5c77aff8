# SPDX-License-Identifier: Apache-2.0
"""Small blocks for so long that counting them pauses for slices of time, and then what could break a pause.

usage: pauses.py interpreters|filter in thread|filter|forks|threads|tracers SECONDS

SECONDS: of CPU time, each for the blocks before it and for the part itself. Prints what the blocks come to."""

import ctypes
import os
import signal
import struct
import sys
import threading
import time
import tracemalloc

BLOCKS = """
def blocks(n):
    kept, total = [None] * 64, 0
    for i in range(n):
        kept[i % 64] = [i, str(i), bytes(i % 200), (i, 1.5 * i)]
        total += len(kept[i % 64][2])
    return total
"""
exec(BLOCKS)
ONCE = 2000
WANTED = blocks(ONCE)


def work(seconds, beside=lambda: None):
    end = time.process_time() + seconds
    while time.process_time() < end:
        assert blocks(ONCE) == WANTED
        beside()


def interpreters(seconds):
    """From 3.12 on each has a GIL of its own, and all their arenas go at its end."""
    try:
        import _interpreters as module
    except ImportError:
        import _xxsubinterpreters as module
    code = BLOCKS + f"kept = [bytes(n % 500) for n in range(20000)]\nassert blocks({ONCE}) == {WANTED}\n"

    def inside():
        one = module.create()
        module.run_string(one, code)
        module.destroy(one)

    def beside():
        others = [threading.Thread(target=inside) for _ in range(2)]
        for other in others:
            other.start()
        assert blocks(ONCE) == WANTED
        for other in others:
            other.join()

    for _ in range(3):
        work(seconds / 6, beside)
        work(seconds / 6)  # alone again, so it may pause again


def set_filter():
    """The process is killed for changing what a page of memory may be used for."""
    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]

    code = [(0x20, 0, 0, 0), (0x15, 0, 1, 10), (0x06, 0, 0, 0x80000000), (0x06, 0, 0, 0x7fff0000)]
    program = Program(len(code), b"".join(struct.pack("HBBI", *one) for one in code))
    libc = ctypes.CDLL(None)
    libc.mallopt(ctypes.c_int(-8), ctypes.c_int(1))  # M_ARENA_MAX: else malloc() itself grows a thread's by mprotect()
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.byref(program), 0, 0):
        sys.exit("no filter can be set here")


def under_filter(seconds):
    set_filter()
    work(seconds)


def filter_in_thread(seconds):
    thread = threading.Thread(target=under_filter, args=(seconds,))
    thread.start()
    work(seconds)
    thread.join()


def forks(seconds):
    def child():
        pid = os.fork()
        if pid == 0:
            os._exit(0 if all(blocks(ONCE) == WANTED for _ in range(10)) else 1)
        assert os.waitpid(pid, 0)[1] == 0

    work(seconds, child)


def threads(seconds):
    """With a signal in each millisecond whose handler takes blocks, too."""
    signal.signal(signal.SIGALRM, lambda *_: blocks(20))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    others = [threading.Thread(target=work, args=(seconds,)) for _ in range(6)]
    for other in others:
        other.start()
    work(seconds)
    for other in others:
        other.join()
    signal.setitimer(signal.ITIMER_REAL, 0)


def tracers(seconds):
    """Allocators that are set over the hooks, and taken away."""
    def one():
        tracemalloc.start()
        assert blocks(ONCE) == WANTED
        tracemalloc.stop()

    for _ in range(5):
        work(seconds / 10)
        work(seconds / 10, one)


PARTS = {"interpreters": interpreters, "filter in thread": filter_in_thread, "filter": under_filter, "forks": forks,
         "threads": threads, "tracers": tracers}
work(float(sys.argv[2]))
PARTS[sys.argv[1]](float(sys.argv[2]))
print(WANTED)
