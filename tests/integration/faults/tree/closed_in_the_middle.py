# SPDX-License-Identifier: Apache-2.0
"""Everything is closed by every means while threads compute and children are started between."""
import ctypes
import os
import subprocess
import sys
import threading
import time

done = []


def spin():
    while not done:
        bytes(200_000)


threads = [threading.Thread(target=spin) for _ in range(2)]
for thread in threads:
    thread.start()
for number in range(6):
    if number % 2:
        os.closerange(3, 1 << 16)
    else:
        ctypes.CDLL(None).syscall(436, 3, 0xFFFFFFFF, 0)  # close_range
    time.sleep(0.1)
    print(os.open("/dev/null", os.O_RDONLY), flush=True)
    print(subprocess.run([sys.executable, "-c", "import os; print(os.listdir('/proc/self/fd'))"], check=False).returncode)
    if os.fork() == 0:
        os.closerange(0, 1 << 16)
        os._exit(number)
    print(os.waitstatus_to_exitcode(os.wait()[1]), flush=True)
done.append(1)
for thread in threads:
    thread.join()
