# SPDX-License-Identifier: Apache-2.0
"""A model that is loaded once, three quarters through, and kept."""

from pace import COUNT, rounds

model = []

for number in rounds():
    if COUNT * 3 // 4 <= number < COUNT * 3 // 4 + 5:
        for _ in range(100):
            model.append(b"w" * 90_000 + bytes([number % 256]))
