# SPDX-License-Identifier: Apache-2.0
"""Children whose end nobody waits for, and one whose parent is killed before it."""
import os
import signal
import sys
import time


def sleep():
    time.sleep(60)
    os._exit(1)


def child(work):
    pid = os.fork()
    if pid == 0:
        work()
    return pid


def wait_until_dead(pid):
    """Dead, perhaps not waited for."""
    while True:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as file:
                if file.read().rsplit(")", 1)[1].split()[0] in "ZX":
                    return
        except OSError:
            return
        time.sleep(0.005)


def zombie():
    pid = child(sleep)
    os.kill(pid, signal.SIGKILL)
    wait_until_dead(pid)
    return [pid]


def ignored():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    pid = child(sleep)
    os.kill(pid, signal.SIGKILL)
    wait_until_dead(pid)
    return [pid]


def orphan():
    read, write = os.pipe()

    def parent():
        os.write(write, b"%d\n" % child(sleep))
        sleep()

    pid = child(parent)
    grandchild = int(os.read(read, 100))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.kill(grandchild, signal.SIGKILL)
    wait_until_dead(grandchild)
    return [pid, grandchild]


print(*globals()[sys.argv[1]]())
