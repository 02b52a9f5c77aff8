# SPDX-License-Identifier: Apache-2.0
"""SIGTRAP with its default action, after much work: it ends the program."""
import os
import signal

import watch_work

print(watch_work.element_loop(10), flush=True)
os.kill(os.getpid(), signal.SIGTRAP)
print(watch_work.element_loop(1), "not reached")
