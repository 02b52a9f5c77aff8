# SPDX-License-Identifier: Apache-2.0
"""Stacks of other threads that are off the CPU, and of forked children."""
import os
import threading
import time

import _walk
import tap


def wait_for(event, started):
    started.append(threading.get_native_id())
    event.wait()


def sleep_a_while(started):
    started.append(threading.get_native_id())
    time.sleep(0.5)


def start(target, *args):
    started = []
    thread = threading.Thread(target=target, args=args + (started,))
    thread.start()
    while not started:
        time.sleep(0.01)
    time.sleep(0.1)  # for it to block
    return thread, started[0]


def test_a_waiting_thread():
    event = threading.Event()
    thread, tid = start(wait_for, event)
    stack, flags = _walk.sample_thread(tid)
    event.set()
    thread.join()
    names = [frame[0] for frame in stack]
    assert names[:3] == ["Condition.wait", "Event.wait", "wait_for"] and names[-1] == "Thread._bootstrap", names
    assert flags == _walk.PYTHON_THREAD | _walk.IN_CALL, flags


def test_a_sleeping_thread():
    thread, tid = start(sleep_a_while)
    stack, flags = _walk.sample_thread(tid)
    thread.join()
    name, file, line, _ = stack[0]
    assert (name, file, line) == ("sleep_a_while", __file__, sleep_a_while.__code__.co_firstlineno + 2), stack[0]


def test_both_ways_give_the_same_ids():
    assert _walk.intern(wait_for.__code__) == _walk.intern_by_content(wait_for.__code__) > 0


def test_a_thread_that_is_gone():
    event = threading.Event()
    thread, tid = start(wait_for, event)
    event.set()
    thread.join()
    assert _walk.sample_thread(tid) == ([], 0)


def test_running_threads_can_be_walked():
    # The result is a guess while they run; it must be taken without harm.
    stop = threading.Event()

    def spin(started):
        started.append(threading.get_native_id())
        while not stop.is_set():
            sorted(range(50), key=lambda x: list(y for y in (x,)))
    spinning = [start(spin) for _ in range(3)]
    walked = 0
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        for _, tid in spinning:
            walked += bool(_walk.sample_thread(tid)[0])
    stop.set()
    for thread, _ in spinning:
        thread.join()
    assert walked > 0


def test_a_forked_child_starts_with_an_empty_region():
    before = _walk.intern(test_a_forked_child_starts_with_an_empty_region.__code__)
    pid = os.fork()
    if pid == 0:
        ok = _walk.reset_region() == 0
        child = _walk.intern((lambda: None).__code__)
        ok = ok and child == 1 and _walk.describe(start.__code__)[1] == "start"
        os._exit(0 if ok else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert _walk.describe(start.__code__)[1] == "start"
    assert _walk.intern(test_a_forked_child_starts_with_an_empty_region.__code__) == before > 0


tap.run_module(globals())
