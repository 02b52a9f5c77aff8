# SPDX-License-Identifier: Apache-2.0
"""What a function's closure collects lives as long as the function. Python's collector soon forgets tuples of a number
and bytes."""
# HOLDER: handle|seen

from pace import rounds


def make_handler():
    seen = []

    def handler(request):
        seen.append((request, bytes(12_000)))  # LEAK
        return len(seen)

    return handler


handle = make_handler()
for number in rounds():
    for _ in range(20):
        handle(number)
