# SPDX-License-Identifier: Apache-2.0
"""What is gathered in the first half is worked off in the second one, beside temporaries of the same line."""

from pace import COUNT, rounds

work = []

for number in rounds():
    if number < COUNT // 2:
        for _ in range(10):
            work.append(("job" * 15_000 + str(number)))
    else:
        del work[:10]
        jobs = [("job" * 15_000 + str(number)) for _ in range(5)]
