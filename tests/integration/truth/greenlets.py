# SPDX-License-Identifier: Apache-2.0
"""Greenlets that burn known CPU times at different depths and switch to each other, as gevent's do.

usage: greenlets.py SECONDS
"""

import sys

import greenlet

from measure import Phases, tell

phases = Phases()


def burn(name):
    phases.begin()
    x = 0
    for i in range(20000):
        x += i * i
    phases.end(name)
    return x


def shallow():
    while True:
        burn("shallow")
        hub.switch()


def deep(depth=20):
    if depth:
        deep(depth - 1)
    while True:
        burn("deep")
        hub.switch()


def key(x):
    burn("in_c")
    hub.switch()
    return x


def in_c():
    """Suspended within a native call that calls back."""
    while True:
        sorted([2, 1], key=key)


def main(seconds):
    workers = [greenlet.greenlet(f) for f in (shallow, deep, in_c)]
    while phases.total() < seconds * 1e9:
        for worker in workers:
            worker.switch()
    tell(cpu_s=phases.seconds())


hub = greenlet.getcurrent()
main(float(sys.argv[1]))
