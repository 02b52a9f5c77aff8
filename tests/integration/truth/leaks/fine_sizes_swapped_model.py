# SPDX-License-Identifier: Apache-2.0
"""Six times a large model takes the place of the one before; the small figures that a line keeps are all there at 60
%."""

from pace import COUNT, STEADY, rounds

figures = []
models = {}


def take(size):
    return bytes(size)


for number in rounds():
    if number < STEADY:
        figures.append([take(400) for _ in range(400)])
    if number % (COUNT // 12) == 0:
        models[number // (COUNT // 12) % 3] = take(3_000_000)
