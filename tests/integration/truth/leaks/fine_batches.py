# SPDX-License-Identifier: Apache-2.0
"""Batches of several MB, each dropped as a whole when the next begins."""

from pace import rounds

batch = []


def parse(number):
    return {"id": number, "values": [number] * 1_500, "text": bytes(12_000)}


for number in rounds():
    if number % 25 == 0:
        batch = []
    for k in range(20):
        batch.append(parse(number + k))
