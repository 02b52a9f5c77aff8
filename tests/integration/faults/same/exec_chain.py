# SPDX-License-Identifier: Apache-2.0
"""A process that replaces itself again and again, with arguments and environment."""
import os
import sys
import time

count = int(sys.argv[1]) if len(sys.argv) > 1 else 0
print(count, sys.executable, sys.argv[1:], os.environ.get("COUNT"), flush=True)
while time.thread_time() < 0.05:
    pass
if count < 5:
    os.execve(sys.executable, [sys.executable, __file__, str(count + 1)], {**os.environ, "COUNT": str(count)})
os.execl("/bin/sh", "sh", "-c", "echo the shell; exit 12")
