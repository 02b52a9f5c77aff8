# SPDX-License-Identifier: Apache-2.0
"""Four threads run Python side by side when the process ends.

usage: ends.py exit|_exit|return|exec|raise|kill
"""

import os
import signal
import sys
import threading
import time


def endless(started):
    x = 1
    started.wait()
    while True:
        x = (x * 75 + 74) % 65537


started = threading.Barrier(5)
for _ in range(4):
    threading.Thread(target=endless, args=(started,), daemon=True).start()
started.wait()
while time.process_time() < 0.5:
    time.sleep(0.01)
print(time.process_time(), flush=True)
match sys.argv[1]:
    case "exit":
        sys.exit(3)
    case "_exit":
        os._exit(3)
    case "exec":
        os.execv(sys.executable, [sys.executable, "-S", "-c", "raise SystemExit(3)"])
    case "raise":
        raise RuntimeError("three")
    case "kill":
        os.kill(os.getpid(), signal.SIGTERM)
