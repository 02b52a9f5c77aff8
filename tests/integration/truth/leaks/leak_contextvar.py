# SPDX-License-Identifier: Apache-2.0
"""A trace in a context variable that is set once and never reset."""
# HOLDER: [Cc]ontext|TRACE

import contextvars

from pace import rounds

TRACE = contextvars.ContextVar("TRACE")


def note():
    TRACE.get().append(bytearray(25_000))  # LEAK


TRACE.set([])
for number in rounds():
    for _ in range(10):
        note()
