# SPDX-License-Identifier: Apache-2.0
"""What descriptors a process has: how many of which kind. What a watch needs (docs/limits.md) is not counted."""

import collections
import os


def kind(target):
    return "file" if target.startswith("/") and target != "/dev/null" else target.partition(":[")[0]


def descriptors():
    targets = []
    for name in os.listdir("/proc/self/fd"):
        try:
            targets.append(os.readlink("/proc/self/fd/" + name))
        except FileNotFoundError:  # the listing's own
            pass
    counts = collections.Counter(map(kind, (t for t in targets if t != "anon_inode:[perf_event]")))
    return " ".join(f"{name} {count}" for name, count in sorted(counts.items()))
