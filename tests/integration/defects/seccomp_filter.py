# SPDX-License-Identifier: Apache-2.0
"""Sets a seccomp filter that kills the process for what a profiler does and this program does not, and goes on.
MODE: main, syscall, all, thread, listener, child, library, wide prctl, wide seccomp."""
import ctypes
import os
import struct
import sys
import threading
import time

LIBC = ctypes.CDLL(None, use_errno=True)
NO_NEW_PRIVS, SET_SECCOMP, MODE_FILTER, SECCOMP, TSYNC, NEW_LISTENER = 38, 22, 2, 317, 1, 8
PRCTL, WIDE = 157, 0xabcdef << 32
# open, ioctl, access, getpid, fcntl, getrusage, ptrace, rt_sigpending, sigaltstack, timer_*, clock_gettime, openat,
# rt_tgsigqueueinfo, perf_event_open, pidfd_send_signal, pidfd_open, pidfd_getfd
DENIED = [2, 16, 21, 39, 72, 98, 101, 127, 131, *range(222, 227), 228, 257, 297, 298, 424, 434, 438]


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def program():
    code = [(0x20, 0, 0, 0)]  # load the number
    for number in DENIED:
        code += [(0x15, 0, 1, number), (0x06, 0, 0, 0x80000000)]  # kill the process
    code.append((0x06, 0, 0, 0x7fff0000))  # allow
    return Program(len(code), b"".join(struct.pack("HBBI", *one) for one in code))


def set_filter(mode):
    assert LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0) == 0
    filter = program()
    if mode == "library":
        import seccomp
        made = seccomp.SyscallFilter(seccomp.ALLOW)
        for name in "perf_event_open", "timer_create", "timer_settime", "openat", "getpid", "rt_sigpending", "pidfd_open", "ioctl":
            made.add_rule(seccomp.KILL_PROCESS, name)
        made.load()
    elif mode.startswith("wide"):  # the upper half of a register with an int may hold anything
        call = (PRCTL, WIDE | SET_SECCOMP, MODE_FILTER) if mode == "wide prctl" else (SECCOMP, WIDE | 1, 0)
        assert LIBC.syscall(*map(ctypes.c_ulong, call), ctypes.byref(filter)) == 0
    elif mode == "listener":  # the answer is a descriptor
        assert LIBC.syscall(SECCOMP, 1, NEW_LISTENER, ctypes.byref(filter)) > 0
    elif mode in ("syscall", "all"):
        assert LIBC.syscall(SECCOMP, 1, TSYNC if mode == "all" else 0, ctypes.byref(filter)) == 0
    else:
        assert LIBC.prctl(SET_SECCOMP, MODE_FILTER, ctypes.byref(filter), 0, 0) == 0


def burn(seconds):
    x, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        for i in range(10000):
            x += i
    return x


def filtered(mode, done):
    set_filter(mode)
    burn(0.1)
    compile("x = 1", "/no/such/file.py", "exec")
    inner = threading.Thread(target=burn, args=(0.01,))
    inner.start()
    inner.join()
    if mode not in ("thread", "listener"):
        threads = [threading.Thread(target=burn, args=(0.05,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        pid = os.fork()
        if pid == 0:
            burn(0.05)
            os._exit(5)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 5
        for thread in threads:
            thread.join()
    done.append(True)


def main(mode):
    done = []
    burn(0.2)
    if mode == "child":
        pid = os.fork()
        if pid:
            return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        filtered(mode, done)
        return 7
    if mode in ("thread", "listener"):
        others = [threading.Thread(target=filtered, args=(mode, done)) for _ in range(3)]
        for other in others:
            other.start()
        burn(0.2)
        for other in others:
            other.join()
        burn(0.2)
    else:
        filtered(mode, done)
    assert all(done) and done
    os.write(1, b"survived\n")
    return 7


sys.exit(main(sys.argv[1]))
