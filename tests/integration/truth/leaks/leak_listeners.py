# SPDX-License-Identifier: Apache-2.0
"""Views that subscribe and never unsubscribe."""
# HOLDER: bus|listeners|View

from pace import rounds


class Bus:
    def __init__(self):
        self.listeners = []


class View:
    def __init__(self, bus):
        self.pixels = bytearray(50_000)  # LEAK
        bus.listeners.append(self.update)

    def update(self):
        self.pixels[0] = 1


bus = Bus()
for number in rounds():
    for _ in range(5):
        View(bus).update()
