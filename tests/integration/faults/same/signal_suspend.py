# SPDX-License-Identifier: Apache-2.0
"""Signals that the profiler may use itself, blocked and sent, are received by the calls that wait with another mask."""
import ctypes
import errno
import os
import signal

LIBC = ctypes.CDLL(None, use_errno=True)
NOTHING = bytes(128)
FIRST = signal.SIGRTMIN
numbers = [signal.SIGTRAP, signal.SIGPROF, *range(FIRST + 20, FIRST + 31)]
got = []


class Time(ctypes.Structure):
    _fields_ = [("s", ctypes.c_long), ("ns", ctypes.c_long)]


def wait_in(call, number):
    """One signal is sent while blocked; the call that opens it must end by its handler. One that ends before it, as one
    that a handler interrupts may, is made again, as programs do."""
    os.kill(os.getpid(), number)
    assert number in signal.sigpending() and not got
    for _ in range(20):
        result = call(), ctypes.get_errno()
        if got:
            break
    seen = list(got)
    got.clear()
    return result, seen


for number in numbers:
    signal.signal(number, lambda number, frame: got.append(number))
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
second, queue = Time(1, 0), LIBC.epoll_create1(0)
for number in (signal.SIGTRAP, signal.SIGPROF, FIRST + 20, FIRST + 27):
    print(number, wait_in(lambda: LIBC.sigsuspend(NOTHING), number),
          wait_in(lambda: LIBC.ppoll(None, 0, ctypes.byref(second), NOTHING), number),
          wait_in(lambda: LIBC.pselect(0, None, None, None, ctypes.byref(second), NOTHING), number),
          wait_in(lambda: LIBC.epoll_pwait(queue, ctypes.create_string_buffer(12), 1, 1000, NOTHING), number))
print(sorted(map(int, signal.pthread_sigmask(signal.SIG_BLOCK, []))))

# What queues comes in the order in which it was sent.
for number in range(FIRST + 20, FIRST + 31):
    for value in range(1, 4):
        LIBC.sigqueue(os.getpid(), number, ctypes.c_void_p(value))


def values(number):
    info, wanted = ctypes.create_string_buffer(128), (1 << number - 1).to_bytes(128, "little")
    for _ in range(3):
        assert LIBC.sigtimedwait(wanted, info, ctypes.byref(second)) == number
        yield int.from_bytes(info.raw[24:28], "little")


print([list(values(number)) for number in range(FIRST + 20, FIRST + 31)])
for _ in range(20):
    result = LIBC.sigtimedwait((1 << signal.SIGTRAP - 1).to_bytes(128, "little"), None, ctypes.byref(Time(0, 1000)))
    if ctypes.get_errno() != errno.EINTR:
        break
print(result, ctypes.get_errno())
