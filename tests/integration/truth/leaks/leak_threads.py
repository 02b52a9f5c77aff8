# SPDX-License-Identifier: Apache-2.0
"""Threads that wait for an end that nobody announces, each with its buffer."""
# HOLDER: session

import threading

from pace import rounds

done = threading.Event()


def session():
    buffer = bytearray(500_000)  # LEAK
    done.wait()
    return buffer


for number in rounds():
    if number % 2 == 0:
        threading.Thread(target=session, daemon=True).start()
