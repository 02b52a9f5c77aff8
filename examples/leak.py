#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small service that answers requests and keeps what it should not; about 5 s.

usage: leak.py [SCALE]        (SCALE 0.1 takes a tenth of the time)

What a profile should show: most of the memory that is allocated is temporary (the decoded request,
the lines of the answer, the image's pixels), and one line keeps all it makes. Sessions are
looked up by a token that is new with each request, so none is ever found again, and nothing removes
them. pieprof names that line among the leaks, with its rate of some 10 MB/s and what holds the
objects, `SESSIONS`. The cache of images beside it looks alike and does not leak: it
drops what was used longest ago.
"""
import collections
import hashlib
import json
import random
import sys
import time

SEED = 20260
REQUESTS_PER_S, SECONDS = 400, 5
IMAGES_MAX = 40

SESSIONS = {}
IMAGES = collections.OrderedDict()


class Session:
    """What the service knows of a user."""

    def __init__(self, user):
        self.user = user
        self.seen = 0
        self.history = bytearray(24_000)  # room for the last pages


def session_of(token, user):
    """The session of a user who has been here before, or a new one."""
    if token not in SESSIONS:
        SESSIONS[token] = Session(user)
    SESSIONS[token].seen += 1
    return SESSIONS[token]


def image(number):
    """Pixels of a picture; the most popular are kept."""
    if number in IMAGES:
        IMAGES.move_to_end(number)
    else:
        IMAGES[number] = bytes(number % 256 for _ in range(50_000))
        if len(IMAGES) > IMAGES_MAX:
            IMAGES.popitem(last=False)
    return IMAGES[number]


def answer(request):
    """The page for a request."""
    asked = json.loads(request)
    session = session_of(asked["token"], asked["user"])
    rows = [f"<tr><td>{session.user}</td><td>{n}</td></tr>" for n in range(asked["rows"])]
    page = "\n".join(rows).encode() + image(asked["image"])[:1000]
    session.history[:100] = page[:100]
    return hashlib.sha256(page).hexdigest()


def requests(rng, count):
    """Requests at an even pace, as they would come over a socket."""
    begun = time.monotonic()
    for number in range(count):
        time.sleep(max(0.0, begun + number / REQUESTS_PER_S - time.monotonic()))
        user = f"user{rng.randrange(50)}"
        token = hashlib.md5(f"{user} {number}".encode()).hexdigest()  # should not change with each request
        yield json.dumps({"user": user, "token": token, "rows": rng.randrange(20, 200),
                          "image": int(rng.paretovariate(0.8)) % 200})


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    answered = collections.Counter()
    for request in requests(random.Random(SEED), max(1, int(REQUESTS_PER_S * SECONDS * scale))):
        answered[answer(request)[0]] += 1
    print(f"requests: {answered.total()}, sessions: {len(SESSIONS)}, images: {len(IMAGES)}")


if __name__ == "__main__":
    main()
