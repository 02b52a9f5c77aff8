# SPDX-License-Identifier: Apache-2.0
"""searches.py SECONDS_OF_EACH: lists and tuples that are searched, where a set would do and where it would not, by
lines. Seconds are of CPU time. Says how many items each list had at most."""
import json
import sys
import time

SECONDS = float(sys.argv[1])
NAMES = [f"station {i * 7919 % 100003}" for i in range(2000)]
PLACES = tuple(NAMES)
ASKED = [f"station {i}" for i in range(997)]
PAGES = [[f"word {i * k}" for i in range(300)] for k in range(1, 400)]
PAIRS = [[i, i + 1] for i in range(500)]
LEVELS = ("low", "medium", "high", "extreme")
KNOWN = set(NAMES)
TEXT = " ".join(f"w{i}" for i in range(200))
lengths = {}


def grows():
    seen = []
    for name in NAMES:
        if name not in seen:  # grows
            seen.append(name)
    lengths["grows"] = len(seen)


def is_long():
    for name in ASKED[:50]:
        if name in NAMES:  # long
            pass
    lengths["long"] = len(NAMES)


def index():
    for name in NAMES[::40]:
        PLACES.index(name)  # index
    lengths["index"] = len(PLACES)


def short():
    for _ in range(2000):
        if "extreme" in LEVELS:  # short
            pass


def a_set():
    for name in ASKED:
        if name in KNOWN:  # set
            pass


def made_anew():
    for _ in range(30):
        if "none" in TEXT.split():  # made anew
            pass


def once_each():
    for page in PAGES:
        if "none" in page:  # once each
            pass


def at_front():
    for _ in range(2000):
        if NAMES[0] in NAMES:  # front
            pass


def no_key():
    for i in range(30):
        if [i, i] in PAIRS:  # no key
            pass


for body in (grows, is_long, index, short, a_set, made_anew, once_each, at_front, no_key):
    until = time.process_time() + SECONDS
    while time.process_time() < until:
        body()
print(json.dumps({"items": lengths}))
