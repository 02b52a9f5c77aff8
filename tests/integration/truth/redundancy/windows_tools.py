# SPDX-License-Identifier: Apache-2.0
"""Does a program that uses sys.monitoring find nothing there, and get all that it asks for? Arguments: CPU seconds."""

import ctypes
import hashlib
import sys
import time

MONITORING = sys.monitoring
LINE = MONITORING.events.LINE
END = time.thread_time() + float(sys.argv[1])
audited = []
lines = []


def hot(data):
    digest = hashlib.pbkdf2_hmac("sha256", b"%d" % data, b"salt", 20)
    return len(digest)


def nobody_is_there():
    assert [MONITORING.get_tool(tool) for tool in range(6)] == [None] * 6
    for tool in (3, 4):
        MONITORING.use_tool_id(tool, "mine")
        assert MONITORING.get_events(tool) == 0
        assert all(MONITORING.get_local_events(tool, code) == 0 for code in (hot.__code__, loop.__code__))
        MONITORING.free_tool_id(tool)


def own_tool(tool):
    """Exactly its own events, of two lines and eight calls; the code is the same before and after."""
    lines.clear()
    MONITORING.use_tool_id(tool, "mine")
    assert MONITORING.register_callback(tool, LINE, lambda code, line: lines.append(line)) is None
    MONITORING.set_local_events(tool, hot.__code__, LINE)
    assert [hot(number) for number in range(8)] == [32] * 8
    MONITORING.set_local_events(tool, hot.__code__, 0)
    MONITORING.register_callback(tool, LINE, None)
    MONITORING.free_tool_id(tool)
    first = hot.__code__.co_firstlineno
    assert lines == [first + 1, first + 2] * 8, lines


def tracer_of_c():
    """A tracer that C code sets, whose calls no function of sys shows; the next new function has all of its lines."""
    seen = []

    def trace(self, frame, what, argument):
        if what == 2 and frame.f_code.co_name == "fresh":
            seen.append(frame.f_lineno)
        return 0

    function = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p)(trace)
    scope = {}
    exec("def fresh(hot):\n    hot(1)\n    return hot(2)\n", scope)
    ctypes.pythonapi.PyEval_SetTrace(function, ctypes.py_object(None))
    result = scope["fresh"](hot)
    ctypes.pythonapi.PyEval_SetTrace(None, None)
    assert result == 32 and seen == [2, 3], seen


def loop():
    before = (hot.__code__.co_code, hash(hot.__code__), loop.__code__.co_code)
    rounds = 0
    while time.thread_time() < END:
        rounds += 1
        for _ in range(100):
            assert hot(rounds) == 32
        if rounds % 4 == 0:
            nobody_is_there()
            own_tool(3 + rounds // 4 % 2)
        if rounds % 10 == 0:
            tracer_of_c()
        assert (hot.__code__.co_code, hash(hot.__code__), loop.__code__.co_code) == before
    return rounds


sys.addaudithook(lambda event, arguments: audited.append(arguments[0]) if event == "sys.monitoring.register_callback" else None)
rounds = loop()
calls = len(audited)
# two by each own tool, and none of anybody's else
assert rounds > 10 and calls == 2 * (rounds // 4), (rounds, calls)
print("as it was")
