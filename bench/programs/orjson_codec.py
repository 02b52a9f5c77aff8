# SPDX-License-Identifier: Apache-2.0
"""orjson in both directions: an extension in Rust that makes many small objects."""

import orjson

from harness import run

DATA = [{"id": i, "name": f"user {i}", "tags": ["a", "b", str(i)], "score": i / 7, "nested": {"on": i % 2 == 0}}
        for i in range(500)]


def work(repeats):
    for _ in range(repeats):
        text = orjson.dumps(DATA)
        again = orjson.loads(text)
    return len(text), len(again)


run(work, 5000)
