# SPDX-License-Identifier: Apache-2.0
"""An exception in a thread is reported by threading; the program goes on."""
import threading


def fail():
    raise ValueError("in thread")


thread = threading.Thread(target=fail, name="failing")
thread.start()
thread.join()
print("still here")
