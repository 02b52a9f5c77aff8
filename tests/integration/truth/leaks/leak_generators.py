# SPDX-License-Identifier: Apache-2.0
"""Generators that are begun and neither finished nor dropped."""
# HOLDER: WAITING|stream

from pace import rounds

WAITING = []


def stream():
    chunk = bytearray(25_000)  # LEAK
    while True:
        yield chunk


for number in rounds():
    for _ in range(10):
        generator = stream()
        next(generator)
        WAITING.append(generator)
