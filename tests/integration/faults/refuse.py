# SPDX-License-Identifier: Apache-2.0
"""Runs a command whose system calls are refused as a container's seccomp profile would refuse them, or end it (SIGSYS)
as a service's of systemd would.

usage: refuse.py ERRNO-NAME|KILL|KILL_THREAD|TRAP SYSCALL,... COMMAND ARGUMENTS...
"""

import ctypes
import errno
import os
import platform
import struct
import sys

NUMBERS = {"perf_event_open": 298, "timer_create": 222, "setitimer": 38, "process_vm_readv": 310, "memfd_create": 319,
           "unshare": 272, "futex_waitv": 449, "pidfd_getfd": 438, "prctl": 157, "wait4": 61, "clone3": 435, "exit": 60,
           "rt_sigreturn": 15, "rt_tgsigqueueinfo": 297, "sigaltstack": 131, "close_range": 436, "fdatasync": 75,
           "getsockname": 51, "getpeername": 52}
AUDIT_ARCH_X86_64 = 0xC000003E
PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
LOAD, JUMP_EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_RET|K
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
DEADLY = {"KILL": 0x80000000, "KILL_THREAD": 0, "TRAP": 0x00030000}


def instruction(code, value, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, value)


def refuse(action, names):
    """From here on, for this process and what it executes, these system calls have this outcome."""
    program = [instruction(LOAD, 4), instruction(JUMP_EQUAL, AUDIT_ARCH_X86_64, 1, 0), instruction(RETURN, ALLOW),
               instruction(LOAD, 0)]
    for name in names:
        program += [instruction(JUMP_EQUAL, NUMBERS[name], 0, 1), instruction(RETURN, action)]
    program.append(instruction(RETURN, ALLOW))
    text = ctypes.create_string_buffer(b"".join(program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program), ctypes.addressof(text)))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0)):
        sys.exit(f"no seccomp filter here: {os.strerror(ctypes.get_errno())}")


def main(outcome, names, *command):
    if platform.machine() != "x86_64":
        sys.exit("the numbers of the system calls are those of x86_64")
    refuse(DEADLY[outcome] if outcome in DEADLY else ERRNO | getattr(errno, outcome), names.split(","))
    os.execvp(command[0], command)


main(*sys.argv[1:])
