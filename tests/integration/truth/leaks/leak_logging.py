# SPDX-License-Identifier: Apache-2.0
"""A handler that gathers records for a flush that never comes; a record keeps what it was given."""
# HOLDER: handler|Handler|buffer|logging

import logging
import logging.handlers

from pace import rounds

handler = logging.handlers.MemoryHandler(capacity=10**9, flushLevel=logging.CRITICAL, target=None)
log = logging.getLogger("requests")
log.setLevel(logging.INFO)
log.propagate = False
log.addHandler(handler)

for number in rounds():
    for _ in range(5):
        body = bytearray(50_000)  # LEAK
        log.info("request %d: %r", number, body)
