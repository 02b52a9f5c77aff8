# SPDX-License-Identifier: Apache-2.0
"""Calls code that a library of the folder given has generated, and some that this program has."""

import sys

sys.path.insert(0, sys.argv[1])
import dispatching  # noqa: E402

MINE = """\
def mine(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
"""

scope = {"time": __import__("time")}
exec(compile(MINE, "<string>", "exec"), scope)
dispatching.public(0.15)
scope["mine"](0.15)
