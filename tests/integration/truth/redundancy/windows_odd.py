# SPDX-License-Identifier: Apache-2.0
"""Does the program find everything as it left it, whatever is counted meanwhile? Arguments: CPU seconds."""

import hashlib
import os
import sys
import threading
import time

END = time.thread_time() + float(sys.argv[1])
seen = {"calls": 0, "lines": 0, "others": 0}


def tracer(frame, event, argument):
    seen["calls" if event == "call" else "lines" if event == "line" else "others"] += event != "return"
    return tracer


def traced(number):
    number += 1
    return number


def frames():
    frame = sys._getframe(1)
    while frame:
        yield frame
        frame = frame.f_back


def check_tracer():
    """Exactly what a tracer sees of two lines and a call. No frame has settings that are not its own."""
    before = dict(seen)
    assert sys.gettrace() is None
    sys.settrace(tracer)
    traced(1)
    sys.settrace(None)
    assert {key: seen[key] - before[key] for key in seen} == {"calls": 1, "lines": 2, "others": 0}, seen
    assert all(frame.f_trace_lines and not frame.f_trace_opcodes for frame in frames())


def hot(data):
    if data == -13:
        raise ValueError(data)
    return len(hashlib.pbkdf2_hmac("sha256", b"%d" % data, b"salt", 20))


def numbers(count):
    for number in range(count):
        yield hot(number + 100)


def deeper(depth):
    return hot(depth + 1000) + deeper(depth - 1) if depth else 0


def caught():
    try:
        return hot(-13)
    except ValueError as error:
        return error.args[0]


def forked():
    child = os.fork()
    if child == 0:
        os._exit(0 if sum(numbers(5)) == 160 and deeper(5) == 160 else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def loop():
    rounds = 0
    while time.thread_time() < END:
        rounds += 1
        for _ in range(20):
            assert hot(rounds) == 32
        assert sum(numbers(10)) == 320
        assert deeper(150) == 150 * 32
        assert caught() == -13
        assert len([hot(number + 50) for number in range(5)]) == 5
        if rounds % 8 == 0:
            check_tracer()
        if rounds % 50 == 0:
            assert forked() == 0
    return rounds


def beside(stop, sums):
    while not stop.is_set():
        sums.append(deeper(100))


stop, sums = threading.Event(), []
threading.stack_size(256 * 1024)
thread = threading.Thread(target=beside, args=(stop, sums), daemon=True)
thread.start()
rounds = loop()
stop.set()
thread.join()
assert set(sums) == {3200} and rounds > 10
print("as it was")
