# SPDX-License-Identifier: Apache-2.0
"""Waits in many short system calls while other threads stand still, and prints how many of them ended with EINTR."""
import ctypes
import errno
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)


class Span(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def main():
    stop, span, calls, interrupted = threading.Event(), Span(0, 3000000), 0, 0
    others = [threading.Thread(target=stop.wait) for _ in range(150)]  # for the collection thread to look at
    for other in others:
        other.start()
    epoll, event, end = LIBC.epoll_create1(0), ctypes.create_string_buffer(12), time.monotonic() + 4
    while time.monotonic() < end:
        for call, arguments in ((LIBC.nanosleep, (ctypes.byref(span), None)), (LIBC.epoll_wait, (epoll, event, 1, 3)),
                                (LIBC.poll, (None, 0, 3))):
            calls += 1
            interrupted += call(*arguments) < 0 and ctypes.get_errno() == errno.EINTR
    stop.set()
    for other in others:
        other.join()
    print(f"{interrupted} of {calls}")


main()
