# SPDX-License-Identifier: Apache-2.0
"""Exceptions that are kept keep their tracebacks, these the frames, and these what was local."""
# HOLDER: ERRORS|handle

from pace import rounds

ERRORS = []


def handle(number):
    body = bytearray(25_000)  # LEAK
    raise ValueError(number, len(body))


for number in rounds():
    for _ in range(10):
        try:
            handle(number)
        except ValueError as error:
            ERRORS.append(error)
