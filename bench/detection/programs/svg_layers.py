# SPDX-License-Identifier: Apache-2.0
"""Where are the shapes of a drawing? ElementTree knows no parents, so each step up searches the whole drawing."""

import random
import xml.etree.ElementTree as ET

import harness

# Each parent is found by a walk over all nodes, so the work grows with their square: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"


def drawing(rng, shapes):
    """Groups in groups, as editors make them; returns the file's text."""
    root = ET.Element("svg", width="600", height="400")
    groups = [root]
    for number in range(shapes):
        if rng.random() < 0.3:
            where = f"translate({rng.randrange(-20, 20)},{rng.randrange(-20, 20)})"
            groups.append(ET.SubElement(rng.choice(groups[-8:]), "g", id=f"layer{number}", transform=where))
        ET.SubElement(rng.choice(groups[-8:]), "rect", x=str(rng.randrange(600)), y=str(rng.randrange(400)),
                      width=str(rng.randrange(1, 60)), height=str(rng.randrange(1, 60)), fill=f"#{rng.randrange(16**6):06x}")
    return ET.tostring(root, encoding="unicode")


def parent_of(tree, node):
    for candidate in tree.iter("g"):  # waste: load
        if node in list(candidate):  # waste: load
            return candidate
    return None


class Positions:
    def __init__(self, root):
        self.root = root

    def parent(self, node):
        return parent_of(self.root, node)  # waste: load

    def origin(self, node):
        """All translations above the node."""
        x, y, depth = 0, 0, 0
        while (node := self.parent(node)) is not None:
            dx, dy = node.get("transform")[10:-1].split(",")
            x, y, depth = x + int(dx), y + int(dy), depth + 1
        return x, y, depth


class FixedPositions(Positions):
    def __init__(self, root):
        super().__init__(root)
        self.parents = {child: group for group in root.iter("g") for child in group}

    def parent(self, node):
        return self.parents.get(node)


def flatten(text, kind):
    """Moves all shapes to the root, sorted by size, and writes the drawing."""
    root = ET.fromstring(text)
    positions, flat, deepest = kind(root), ET.Element("svg", root.attrib), 0
    for shape in root.iter("rect"):
        x, y, depth = positions.origin(shape)
        deepest = max(deepest, depth)
        copy = ET.SubElement(flat, "rect", shape.attrib)
        copy.set("x", str(int(shape.get("x")) + x))
        copy.set("y", str(int(shape.get("y")) + y))
    flat[:] = sorted(flat, key=lambda node: -int(node.get("width")) * int(node.get("height")))
    return len(ET.tostring(flat)), deepest, sum(int(node.get("x")) * (i % 7) for i, node in enumerate(flat))


def work(drawings, kind):
    rng = random.Random(1999)
    return [flatten(drawing(rng, 60 + 20 * (number % 4)), kind) for number in range(drawings)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Positions), lambda n: work(n, FixedPositions), repeats=1900)
