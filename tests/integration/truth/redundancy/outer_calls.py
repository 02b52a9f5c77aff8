# SPDX-License-Identifier: Apache-2.0
"""Calls of own code for which a library's Python code is at work, whose arguments repeat or do not, by lines.

usage: outer_calls.py CPU_SECONDS_OF_EACH
"""
import collections
import fractions
import random
import sys
import time
import xml.etree.ElementTree as ET

SECONDS = float(sys.argv[1])
DEPTHS = 4
ROOT = ET.fromstring("<a>" + "".join(f'<b n="{i}"/>' for i in range(300)) + "</a>")
OTHERS = [f"./b[@n='{i}']" for i in range(280)]
random.Random(3).shuffle(OTHERS)
SAME = "./b[@n='270']"
NUMBERS = [f"{(i * 7919) % 1009}/7" for i in range(100)]
CHAIN = collections.ChainMap({1: 2, 3: 4}, dict.fromkeys(range(20)))


def repeat(body):
    """body(i) for SECONDS."""
    until, i = time.thread_time() + SECONDS, 0
    while time.thread_time() < until:
        for _ in range(20):
            body(i)
            i += 1


def same(i):
    return ROOT.find(SAME)  # same


def other(i):
    return ROOT.find(OTHERS[i % len(OTHERS)])  # other


def effect(i):
    return NUMBERS.sort(key=fractions.Fraction)  # effect


def counted(i):
    return len(CHAIN)  # counted


def deeper(depth):
    found = ROOT.find(OTHERS[depth])  # deeper
    return deeper(depth - 1) if depth else found


def recursion(i):
    return deeper(DEPTHS - 1)


def generated(first):
    for number in range(len(OTHERS)):
        yield ROOT.find(OTHERS[(first + number) % len(OTHERS)])  # generated


def consumer(i):
    """Leaves the generator behind in the middle, so its frame goes."""
    for number, _ in enumerate(generated(i * 57)):
        if number == 3 + i % 50:
            break


def failing(i):
    try:
        return ROOT.find(f"./b[@n='{i}'][")  # failing
    except (SyntaxError, TypeError):
        return None


for body in (same, other, effect, counted, recursion, consumer, failing):
    repeat(body)
