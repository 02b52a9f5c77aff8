# SPDX-License-Identifier: Apache-2.0
"""A server with workers made in advance: a master that waits for signals, replaces who dies and ends them all."""
import os
import signal
import time

workers, ended, told = {}, [], []


def work(number):
    signal.signal(signal.SIGTERM, lambda *_: os._exit(30))
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    if number % 3 == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.thread_time() + 0.04
    while time.thread_time() < end:
        bytes(50_000)
    if number < 8:
        os._exit(number)
    while True:
        time.sleep(10)


def start(number):
    child = os.fork()
    if child == 0:
        work(number)
    workers[child] = number


def on_child(*_):
    told.append(1)
    while workers:
        try:
            child, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if child == 0:
            return
        ended.append((workers.pop(child), os.waitstatus_to_exitcode(status)))


signal.signal(signal.SIGCHLD, on_child)
started = 0
while started < 12 or len(workers) > 3:
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGCHLD])
    while len(workers) < 4 and started < 12:
        start(started)
        started += 1
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGCHLD])
    time.sleep(0.02)
time.sleep(0.3)
for child in list(workers):
    os.kill(child, signal.SIGTERM)
while workers:
    time.sleep(0.02)
print(sorted(ended), bool(told))
