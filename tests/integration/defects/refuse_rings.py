# SPDX-License-Identifier: Apache-2.0
"""refuse_rings.py COMMAND…: only the first rings of perf events can be mapped, as where locked memory is used up
(perf_event_mlock_kb and RLIMIT_MEMLOCK): mmap() of two shared pages that are read only fails with EPERM, of descriptors
from 20 on."""

import ctypes
import os
import struct
import sys

MMAP, EPERM, PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 9, 1, 22, 38, 2
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
# Offsets of the number and of arguments in struct seccomp_data; each must be as it is for a ring.
WANTED = [(0, JUMP_EQUAL, MMAP), (16 + 8, JUMP_EQUAL, 8192), (16 + 16, JUMP_EQUAL, 1), (16 + 24, JUMP_EQUAL, 1),
          (16 + 32, JUMP_AT_LEAST, 20)]

program = b""
for nth, (offset, jump, value) in enumerate(WANTED):
    to_allow = 2 * (len(WANTED) - nth) - 1
    program += struct.pack("HBBI", LOAD, 0, 0, offset) + struct.pack("HBBI", jump, 0, to_allow, value)
program += struct.pack("HBBI", RETURN, 0, 0, ERRNO | EPERM) + struct.pack("HBBI", RETURN, 0, 0, ALLOW)
text = ctypes.create_string_buffer(program)
header = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(text)))
libc = ctypes.CDLL(None, use_errno=True)
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0):
    sys.exit(f"no seccomp filter here: {os.strerror(ctypes.get_errno())}")
os.execvp(sys.argv[1], sys.argv[1:])
