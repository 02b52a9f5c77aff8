# SPDX-License-Identifier: Apache-2.0
"""Threads of all kinds: they sleep, compute, wait for each other, come and go. Prints for each that ends by itself what
it had waited for a processor as it began to work, and in the end."""

import json
import threading
import time

told = {}


def delay_s():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def sleeper():
    time.sleep(0.8)


def computer():
    burn(0.2)


def both():
    for _ in range(20):
        time.sleep(0.005)
        burn(0.005)


def short():
    time.sleep(0.002)


def run(work):
    begun = delay_s()
    work()
    told[threading.get_native_id()] = begun, delay_s()


threads = [threading.Thread(target=run, args=(work,)) for work in (sleeper, computer, computer, both, sleeper, sleeper)]
for thread in threads:
    thread.start()
for _ in range(30):
    thread = threading.Thread(target=short)
    thread.start()
    thread.join()
for thread in threads:
    thread.join()
print(json.dumps(told))
