# SPDX-License-Identifier: Apache-2.0
"""Cycles, and nobody collects them."""
# HOLDER: Node

import gc

from pace import rounds


class Node:
    def __init__(self, parent=None):
        self.parent, self.children = parent, []
        self.text = bytes(12_000)  # LEAK
        if parent:
            parent.children.append(self)


gc.disable()
for number in rounds():
    for _ in range(10):
        Node(Node())
