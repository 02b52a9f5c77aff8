# SPDX-License-Identifier: Apache-2.0
"""Scratch memory of a thread that is never reset."""
# HOLDER: local|scratch|kept

import threading

from pace import rounds

scratch = threading.local()
finished = threading.Event()


def work():
    scratch.kept = []
    for number in rounds():
        for _ in range(10):
            scratch.kept.append(bytearray(25_000))  # LEAK
    finished.set()
    threading.Event().wait()  # for more to do


threading.Thread(target=work, daemon=True).start()
finished.wait()
