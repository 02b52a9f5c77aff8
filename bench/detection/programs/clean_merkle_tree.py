# SPDX-License-Identifier: Apache-2.0
"""Files are kept by a tree of hashes; some blocks change, their branches are hashed again, and proofs are checked.

The same function is called all the time, always with other blocks or hashes of one length.
"""

import hashlib
import random

import harness

BLOCKS, BLOCK_BYTES = 512, 256  # the first is a power of two


def joined(left, right):
    return hashlib.blake2b(left + right, digest_size=32).digest()


class Tree:
    """Nodes as in a heap: the root is 1, the leaves are at BLOCKS and after."""

    def __init__(self, blocks):
        self.nodes = [b""] * BLOCKS + [hashlib.blake2b(block, digest_size=32).digest() for block in blocks]
        for node in range(BLOCKS - 1, 0, -1):
            self.nodes[node] = joined(self.nodes[2 * node], self.nodes[2 * node + 1])

    def change(self, number, block):
        node = BLOCKS + number
        self.nodes[node] = hashlib.blake2b(block, digest_size=32).digest()
        while node > 1:
            node //= 2
            self.nodes[node] = joined(self.nodes[2 * node], self.nodes[2 * node + 1])

    def proof(self, number):
        """The hashes beside the way from a block to the root."""
        node, beside = BLOCKS + number, []
        while node > 1:
            beside.append(self.nodes[node ^ 1])
            node //= 2
        return beside


def is_proven(root, number, block, beside):
    digest = hashlib.blake2b(block, digest_size=32).digest()
    for other in beside:
        digest = joined(other, digest) if number & 1 else joined(digest, other)
        number //= 2
    return digest == root


def work(repeats):
    rng = random.Random(751)
    found = []
    for _ in range(repeats):
        blocks = [rng.randbytes(BLOCK_BYTES) for _ in range(BLOCKS)]
        tree, proven = Tree(blocks), 0
        for _ in range(100):
            number = rng.randrange(BLOCKS)
            blocks[number] = rng.randbytes(BLOCK_BYTES)
            tree.change(number, blocks[number])
            asked = rng.randrange(BLOCKS)
            proven += is_proven(tree.nodes[1], asked, blocks[asked], tree.proof(asked))
        found.append([proven, tree.nodes[1][0], tree.nodes[1][-1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=11000)
