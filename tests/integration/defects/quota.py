# SPDX-License-Identifier: Apache-2.0
"""Computes for SECONDS of CPU time, then sleeps for a fifth of a second. Prints what the kernel says of both: the time
in which this thread was ready to run and did not. usage: quota.py SECONDS [FOLDER OF ITS CGROUP]"""

import json
import pathlib
import sys
import time


def delay_s():
    with open("/proc/thread-self/schedstat") as file:
        return int(file.read().split()[1]) / 1e9


def now():
    """The time and the delay up to then: none came while the clock was read."""
    while True:
        before, at, after = delay_s(), time.monotonic(), delay_s()
        if before == after:
            return at, after, throttled_s()


def throttled_s():
    if len(sys.argv) < 3:
        return 0
    stat = dict(line.split() for line in pathlib.Path(sys.argv[2], "cpu.stat").read_text().splitlines())
    return int(stat["throttled_usec"]) / 1e6 if "throttled_usec" in stat else int(stat["throttled_time"]) / 1e9


def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:  # busy
        pass


def short_nap():
    time.sleep(0.2)  # nap


told = [now()]
burn(float(sys.argv[1]))
told.append(now())
short_nap()
told.append(now())
(begin, delay, throttled), (burnt, burn_delay, burn_throttled), (end, nap_delay, _) = told
print(json.dumps({"burn_s": burnt - begin, "burn_delay_s": burn_delay - delay,
                  "burn_throttled_s": burn_throttled - throttled, "nap_s": end - burnt, "nap_delay_s": nap_delay - burn_delay}))
