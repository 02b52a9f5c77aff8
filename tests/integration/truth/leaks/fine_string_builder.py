# SPDX-License-Identifier: Apache-2.0
"""An answer of many parts for each request."""

from pace import rounds


def answer(number):
    parts = []
    for k in range(1_000):
        parts.append("<td>" + str(number * k) * 20 + "</td>")
    return "".join(parts)


answers = {}
for number in rounds():
    answers[number % 20] = answer(number)
