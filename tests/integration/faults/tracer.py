# SPDX-License-Identifier: Apache-2.0
"""A small debugger: attaches to all threads of a process, lets them run for a while, and lets go of them.

usage: tracer.py PID SECONDS pass|swallow|registers

pass: each signal is handed on, as strace does. swallow: SIGTRAP is kept back, as gdb does with signals that it takes
for its own. registers: and the four debug registers are taken away as well. Ends with 77 where the kernel lets no
process attach to this one; says at the end how many stops there were.

A thread has one tracer at a time. pieprof's own helper, which sets debug registers by ptrace, is one for some
microseconds: an attempt that meets it is repeated."""
import ctypes
import errno
import os
import signal
import sys
import time

ATTACH, DETACH, CONTINUE, POKE_USER = 16, 17, 7, 6
DEBUG_REGISTERS = 848  # offsetof(struct user, u_debugreg) on x86-64
WALL = 0x40000000
OTHER_TRACER_S = 5  # a helper that got no processor meanwhile has let go by then
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long


def ptrace(request, tid, address=None, data=None):
    """Raises OSError; a thread that is gone is no error."""
    if libc.ptrace(request, tid, address, data) < 0:
        error = ctypes.get_errno()
        if error == errno.ESRCH:
            return False
        raise OSError(error, f"ptrace({request}): {os.strerror(error)}")
    return True


def stop_of(tid, flags=0):
    """(thread, signal) of the next stop of this thread, or of any (-1); (0, 0): none; signal 0: the thread has
    ended."""
    try:
        stopped, status = os.waitpid(tid, WALL | flags)
    except ChildProcessError:
        return 0, 0
    return stopped, os.WSTOPSIG(status) & 0x7F if stopped and os.WIFSTOPPED(status) else 0


def handed_on(number, mode):
    return 0 if number == signal.SIGSTOP or (mode != "pass" and number == signal.SIGTRAP) else number


def status_of(tid):
    """(has it ended, the process that traces it or 0) of a thread."""
    try:
        with open(f"/proc/{tid}/status", encoding="ascii", errors="replace") as file:
            fields = dict(line.split(":", 1) for line in file)
        return fields["State"].split()[0] in "ZX", int(fields["TracerPid"])
    except (FileNotFoundError, ProcessLookupError):
        return True, 0


def attach_thread(tid):
    """False: it has ended. Raises PermissionError where no tracer may come, BlockingIOError where another one stays."""
    until, untraced = time.monotonic() + OTHER_TRACER_S, 0
    while True:
        try:
            return ptrace(ATTACH, tid)
        except PermissionError:
            has_ended, tracer = status_of(tid)
            if has_ended:
                return False
            # The other tracer may have gone between these two calls, but not a hundred times in a row.
            untraced = 0 if tracer else untraced + 1
            if untraced == 100:
                raise
            if time.monotonic() > until:
                raise BlockingIOError(errno.EAGAIN, f"thread {tid} is traced by process {tracer}") from None
        time.sleep(0.001)


def attach(pid, mode):
    """Attaches to every thread that is there; returns them."""
    traced = set()
    for tid in map(int, os.listdir(f"/proc/{pid}/task")):
        if not attach_thread(tid):
            continue
        number = -1
        while number not in (signal.SIGSTOP, 0):
            _, number = stop_of(tid)
            if number not in (signal.SIGSTOP, 0):
                ptrace(CONTINUE, tid, None, handed_on(number, mode))
        traced.add(tid)
    return traced


def take_registers(tid):
    """Four execute breakpoints where nobody goes; as many as there still are."""
    taken = 0
    for register in range(4):
        try:
            taken += ptrace(POKE_USER, tid, DEBUG_REGISTERS + 8 * register, 0x10000 + 8 * register)
            ptrace(POKE_USER, tid, DEBUG_REGISTERS + 8 * 7, sum(1 << (2 * r) for r in range(register + 1)))
        except OSError:
            break
    return taken


def let_run(until, mode):
    stops = 0
    while time.monotonic() < until:
        tid, number = stop_of(-1, os.WNOHANG)
        if not tid:
            time.sleep(0.0005)
        elif number:
            stops += 1
            ptrace(CONTINUE, tid, None, handed_on(number, mode))
    return stops


def detach(pid, tid, mode):
    """A thread must be stopped for it; what it was about to get meanwhile it gets."""
    libc.syscall(234, pid, tid, int(signal.SIGSTOP))  # tgkill
    while True:
        stopped, number = stop_of(tid)
        if not stopped or not number:
            return
        if number == signal.SIGSTOP:
            ptrace(POKE_USER, tid, DEBUG_REGISTERS + 8 * 7, 0)
            ptrace(DETACH, tid)
            return
        ptrace(CONTINUE, tid, None, handed_on(number, mode))


def main(pid, seconds, mode):
    try:
        traced = attach(pid, mode)
    except OSError as error:
        print(error)
        sys.exit(77 if isinstance(error, PermissionError) else 1)
    if not traced:
        sys.exit("the process has ended already")
    registers = {take_registers(tid) for tid in traced} if mode == "registers" else set()
    for tid in traced:
        ptrace(CONTINUE, tid)
    stops = let_run(time.monotonic() + seconds, mode)
    for tid in traced:
        detach(pid, tid, mode)
    print(f"{len(traced)} threads, {stops} stops, registers {sorted(registers)}")


main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3])
