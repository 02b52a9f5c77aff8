# SPDX-License-Identifier: Apache-2.0
"""pprint: much allocation of small strings and lists in pure Python."""

import pprint

from harness import run

DATA = [{"key": [i, str(i), (i, i + 1)], "other": {"x": i, "y": [None, True, i * 0.5]}} for i in range(300)]


def work(repeats):
    for _ in range(repeats):
        text = pprint.pformat(DATA, width=60)
    return len(text)


run(work, 350)
