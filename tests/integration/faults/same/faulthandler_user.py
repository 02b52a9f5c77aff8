# SPDX-License-Identifier: Apache-2.0
"""faulthandler as a program uses it: on a signal of its own, with its stack, later, and cancelled."""
import faulthandler
import os
import signal
import sys
import time

faulthandler.enable()
faulthandler.register(signal.SIGUSR1, chain=False)
faulthandler.register(signal.SIGTRAP, chain=False)
os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGTRAP)
faulthandler.dump_traceback_later(0.3, exit=False)


def spin():
    while time.thread_time() < 0.7:
        pass


spin()
faulthandler.dump_traceback_later(60)
faulthandler.cancel_dump_traceback_later()
faulthandler.unregister(signal.SIGUSR1)
print(signal.getsignal(signal.SIGUSR1), file=sys.stderr)
