# SPDX-License-Identifier: Apache-2.0
"""What a finalizer is to be called with lives as long as the object it waits for."""
# HOLDER: finalize

import weakref

from pace import rounds


class Service:
    def close(self, buffer):
        buffer.clear()


service, sink = Service(), Service()
for number in rounds():
    for _ in range(10):
        buffer = bytearray(25_000)  # LEAK
        weakref.finalize(service, sink.close, buffer).atexit = False
