# SPDX-License-Identifier: Apache-2.0
"""No frame gets a wrong name while functions are compiled and dropped in four threads under fast timers.

usage: churn.py [SECONDS]
"""
import contextlib
import sys
import threading
import time
import types

import _walk
import tap

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 4.0
THREADS = 4
PERIOD_US = 300


def template(n):
    return sum(sorted(range(n), key=lambda v: -v))


def work(thread, deadline):
    """Functions that live for one round, in the shapes that put frames in different places."""
    number = 0
    while time.monotonic() < deadline:
        number += 1
        name = "t%d_%06d" % (thread, number)
        source = (
            "def f_{0}(n):\n return sum(i for i in range(n))\n"
            "def g_{0}(n):\n for i in range(n):\n  yield f_{0}(3)\n"
            "class C_{0}:\n def __init__(self):\n  self.x = sorted([3, 1, 2], key=lambda v: -v)\n"
            "async def a_{0}(n):\n return list(g_{0}(n))\n"
            "def r_{0}(n):\n return r_{0}(n - 1) if n else 0\n").format(name)
        namespace = {}
        exec(compile(source, "<%s>" % name, "exec"), namespace)
        namespace["f_" + name](20)
        list(zip(namespace["g_" + name](5), namespace["g_" + name](5)))
        namespace["C_" + name]()
        namespace["r_" + name](20)
        # Another file name, but the very objects of the template for its name and its lines.
        types.FunctionType(template.__code__.replace(co_filename="<%s>" % name), {})(20)
        with contextlib.suppress(StopIteration):
            namespace["a_" + name](3).send(None)


def run(thread, deadline):
    timer = _walk.arm(PERIOD_US)
    try:
        work(thread, deadline)
    finally:
        _walk.disarm(timer)


def test_names_are_right():
    deadline = time.monotonic() + SECONDS
    threads = [threading.Thread(target=run, args=(i, deadline)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    verdict = _walk.judge()
    tap.note(verdict)
    tap.note("looked up by address afterwards, %.1f %% of the names would be wrong" % (
        100 * verdict["naive_wrong"] / verdict["frames"]))
    assert verdict["samples"] > 500 * SECONDS
    assert verdict["frames"] > verdict["samples"]
    assert verdict["wrong"] == 0
    assert verdict["unnamed"] <= verdict["frames"] * 0.001
    assert verdict["invalid"] <= verdict["samples"] * 0.01
    assert verdict["naive_wrong"] > verdict["frames"] * 0.01, "the case is not covered"


tap.run_module(globals())
