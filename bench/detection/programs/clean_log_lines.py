# SPDX-License-Identifier: Apache-2.0
"""Lines of a web server's log, no two of them alike, taken apart by one regular expression and counted."""

import collections
import random
import re

import harness

LINE = re.compile(
    r'(?P<host>[\d.]+) \[(?P<second>\d+)\] "(?P<verb>[A-Z]+) /(?P<part>\w+)/(?P<page>\d+)" '
    r"(?P<status>\d{3}) (?P<size>\d+)"
)


def line(rng, second):
    host = ".".join(str(rng.randrange(256)) for _ in range(4))
    verb = "GET" if rng.random() < 0.9 else "POST"
    path = f"/{rng.choice(('shop', 'help', 'api'))}/{rng.randrange(10**5)}"
    status = 200 if rng.random() < 0.97 else rng.choice((301, 404, 500))
    return f'{host} [{second}] "{verb} {path}" {status} {rng.randrange(10**6)}'


def lines(rng, count):
    second = 0
    for _ in range(count):
        second += rng.randrange(1, 5)
        yield line(rng, second)


def work(repeats):
    rng = random.Random(302)
    statuses, sizes, pages = collections.Counter(), collections.Counter(), 0
    for text in lines(rng, repeats):
        match = LINE.fullmatch(text)
        statuses[match["status"]] += 1
        sizes[match["verb"]] += int(match["size"])
        pages += int(match["page"])
    return [*(statuses[name] for name in ("200", "301", "404", "500")), sizes["GET"], sizes["POST"], pages]


if __name__ == "__main__":
    harness.main(work, repeats=700_000)
