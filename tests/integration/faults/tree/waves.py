# SPDX-License-Identifier: Apache-2.0
"""A thousand children, fifty at a time, each of which lives for a moment."""
import os

count = 0
unexpected = {}  # by a child's number: a status that it did not give itself; negative: the signal that ended it
for wave in range(20):
    numbers = {}
    for number in range(50):
        if (pid := os.fork()) == 0:
            os._exit((sum(range(500)) + number) % 100)
        numbers[pid] = number
    for _ in range(50):
        pid, status = os.wait()
        count += 1
        number, code = numbers.pop(pid, None), os.waitstatus_to_exitcode(status)
        if number is None or code != 50 + number:
            unexpected[number] = code
print(count, unexpected)
