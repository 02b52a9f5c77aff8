# SPDX-License-Identifier: Apache-2.0
"""Uses of pieprof.loop() that are not a plain loop to its end. The output must be that of plain python: prints one
object of what each case came to."""

import contextlib
import json
import sys
import threading

try:
    from pieprof import loop
except ImportError:
    loop = iter

SEEN = []


class Told(Exception):
    pass


def double(x):
    return 2 * x


def refuse(x):
    raise Told(x)


def empty():
    return [double(x) for x in loop([])]


def broken():
    for x in loop(range(100)):
        if double(x) > 20:
            break
    return x


def left_by_return():
    for x in loop(range(100)):
        if double(x) > 20:
            return x


def left_by_exception():
    try:
        for x in loop(range(100)):
            double(x)
            if x == 7:
                refuse(x)
    except Told as told:
        return told.args


def else_branch():
    for x in loop(range(5)):
        double(x)
    else:
        return "else"


def iterable_raises():
    def items():
        yield from range(3)
        refuse("items")
    seen = []
    with contextlib.suppress(Told):
        for x in loop(items()):
            seen.append(double(x))
    return seen


def body_stops_iteration():
    try:
        for _ in loop(range(3)):
            next(iter(()))
    except StopIteration:
        return "seen"


def nested():
    total = 0
    for x in loop(range(20)):
        total += double(x)
        for y in loop(range(x)):
            total += double(y)
    return total


def entered_again(depth=4):
    total = 0
    for x in loop(range(depth)):
        total += double(x) + entered_again(x)
    return total


def in_a_generator():
    def doubles():
        for x in loop(range(50)):
            yield double(x)
    taken = doubles()
    head = [next(taken) for _ in range(10)]
    taken.close()
    return head, sum(doubles())


def by_hand():
    source = loop(iter(range(5)))
    first = next(iter(source))
    return first, list(source), next(iter(source), "end")


def never_begun():
    loop(range(5))
    return "dropped"


def not_iterable():
    try:
        loop(5)
    except TypeError:
        return "TypeError"


def in_threads():
    totals = []

    def work():
        total = 0
        for x in loop(range(5000)):
            total += double(x)
        totals.append(total)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return totals


def with_a_profiler():
    """A program's own sys.setprofile() sees every call."""
    def note(frame, event, arg):
        if event == "call" and frame.f_code.co_name == "double":
            SEEN.append(frame.f_lineno)
    sys.setprofile(note)
    for x in loop(range(500)):
        double(x)
    kept = sys.getprofile() is note
    sys.setprofile(None)
    return len(SEEN), kept, sys.getprofile()


def profiler_set_in_the_body():
    for x in loop(range(500)):
        if x == 250:
            sys.setprofile(lambda *_: None)
        double(x)
    is_set = sys.getprofile() is not None
    sys.setprofile(None)
    return is_set


def deep():
    """A recursion that ends in RecursionError in the body."""
    def down():
        return down()
    caught = 0
    for _ in loop(range(5)):
        try:
            down()
        except RecursionError:
            caught += 1
    return caught


CASES = [empty, broken, left_by_return, left_by_exception, else_branch, iterable_raises, body_stops_iteration, nested,
         entered_again, in_a_generator, by_hand, never_begun, not_iterable, in_threads, with_a_profiler,
         profiler_set_in_the_body, deep]

print(json.dumps({case.__name__: case() for case in CASES}))
