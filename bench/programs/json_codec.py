# SPDX-License-Identifier: Apache-2.0
"""JSON in both directions: native code of the standard library that makes many small objects."""

import json

from harness import run

DATA = [{"id": i, "name": f"user {i}", "tags": ["a", "b", str(i)], "score": i / 7, "nested": {"on": i % 2 == 0}}
        for i in range(500)]


def work(repeats):
    for _ in range(repeats):
        text = json.dumps(DATA)
        again = json.loads(text)
    return len(text), len(again)


run(work, 3200)
