# SPDX-License-Identifier: Apache-2.0
"""A loop over pieprof.loop() whose calls take times that are known: each waits for the clock to reach an end.

usage: trace_shares.py KIND SECONDS         KIND: steady, rare, tailed, phases, many, recursive, raising

The last line prints the shares of the calls by line, the share of the body's own code, the calls by line, and the
loop's line. Lines that call end in a comment with the name under which the call notes its time. The body's time is
taken by what the loop iterates over, so it includes what a tracer does in the body.
"""

import collections
import random
import re
import sys
import time

from measure import tell

try:
    from pieprof import loop
except ImportError:
    loop = iter

now = time.perf_counter_ns
TOOK, CALLS = collections.Counter(), collections.Counter()
BODY = [0, 0]  # nanoseconds, iterations


class Told(Exception):
    pass


def spin(name, us):
    """Takes this many microseconds of wall time."""
    begun = now()
    end = begun + int(us * 1000)
    CALLS[name] += 1
    while now() < end:
        pass
    TOOK[name] += now() - begun


def spin_deep(name, us, depth):
    """The same, at the bottom of a recursion."""
    if depth:
        spin_deep(name, us, depth - 1)
    else:
        spin(name, us)


def spin_and_raise(name, us):
    spin(name, us)
    raise Told


def items(seconds):
    """(random number, late?) until the time is up."""
    choice = random.Random(23)
    end = now() + int(seconds * 1e9)
    while now() < end:
        late = now() > end - int(seconds * 5e8)
        begun = now()
        yield choice.random(), late
        BODY[0] += now() - begun
        BODY[1] += 1


def steady(seconds):
    for _ in loop(items(seconds)):  # loop: steady
        spin("long", 100)  # site: long
        spin("short", 20)  # site: short
        max((50,), key=lambda us: spin("native", us))  # site: native
        left = 1500
        while left:
            left -= 1
        spin("middle", 60)  # site: middle


def rare(seconds):
    for drawn, _ in loop(items(seconds)):  # loop: rare
        spin("usual", 50)  # site: usual
        if drawn < 0.02:
            spin("seldom", 2000)  # site: seldom
        spin("other", 30)  # site: other


def tailed(seconds):
    for drawn, _ in loop(items(seconds)):  # loop: tailed
        spin("even", 50)  # site: even
        spin("tail", min(5000, 10 / (1 - drawn) ** 0.8))  # site: tail
        spin("two", 5 if drawn < 0.5 else 95)  # site: two


def phases(seconds):
    for _, late in loop(items(seconds)):  # loop: phases
        spin("cheaper", 20 if late else 100)  # site: cheaper
        spin("dearer", 100 if late else 20)  # site: dearer
        if late:
            spin("begins", 60)  # site: begins
        spin("stays", 60)  # site: stays


def many(seconds):
    for _ in loop(items(seconds)):  # loop: many
        spin("a", 10)  # site: a
        spin("b", 10)  # site: b
        spin("c", 200)  # site: c
        spin("d", 10)  # site: d
        spin("e", 10)  # site: e
        spin("f", 10)  # site: f
        spin("g", 150)  # site: g
        spin("h", 10)  # site: h
        spin("i", 10)  # site: i
        spin("j", 10)  # site: j


def recursive(seconds):
    for drawn, _ in loop(items(seconds)):  # loop: recursive
        spin_deep("deep", 80, int(drawn * 20))  # site: deep
        spin("flat", 40)  # site: flat


def raising(seconds):
    for drawn, _ in loop(items(seconds)):  # loop: raising
        try:
            spin_and_raise("raises", 80)  # site: raises
        except Told:
            spin("handles", 40)  # site: handles
        if drawn < 0.3:
            continue
        spin("returns", 60)  # site: returns


def places(kind):
    """({name: line of the call}, line of the loop) from the comments."""
    sites, where = {}, None
    with open(__file__, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            found = re.search(r"# (site|loop): (\w+)$", text)
            if found and found[1] == "loop" and found[2] == kind:
                where = number
            elif found and found[1] == "site":
                sites[found[2]] = number
    return sites, where


def main(kind, seconds):
    globals()[kind](seconds)
    sites, where = places(kind)
    body, iterations = BODY
    tell(shares={sites[name]: ns / body for name, ns in TOOK.items()}, own=1 - sum(TOOK.values()) / body,
         calls={sites[name]: calls for name, calls in CALLS.items()}, loop_line=where, iterations=iterations,
         body_s=body / 1e9)


main(sys.argv[1], float(sys.argv[2]))
