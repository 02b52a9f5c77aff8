# SPDX-License-Identifier: Apache-2.0
"""A thousand children, fifty at a time, each of which lives for a moment."""
import os

statuses = []
for wave in range(20):
    for number in range(50):
        if os.fork() == 0:
            os._exit((sum(range(500)) + number) % 100)
    statuses += [os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(50)]
print(len(statuses), sum(statuses))
