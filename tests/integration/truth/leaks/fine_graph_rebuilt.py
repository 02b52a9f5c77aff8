# SPDX-License-Identifier: Apache-2.0
"""A graph full of cycles that is built anew from time to time; the old one is the collector's."""

import gc

from pace import COUNT, rounds


class Node:
    def __init__(self, parent):
        self.parent, self.children = parent, []
        self.text = bytes(2_000)
        if parent:
            parent.children.append(self)


def build(size):
    nodes = [Node(None)]
    for k in range(1, size):
        nodes.append(Node(nodes[k // 2]))
    return nodes[0]


for number in rounds():
    if number % (COUNT // 12) == 0:
        graph = build(4_000)
        gc.collect()
