# SPDX-License-Identifier: Apache-2.0
"""Orders are checked against one warehouse of an XML file; for each order its node is searched from the root again."""

import random
import xml.etree.ElementTree as ET

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"
WAREHOUSES, ITEMS = 40, 60


def stock_file(random_source):
    lines = ["<stock>"]
    for house in range(WAREHOUSES):
        lines.append(f'<warehouse code="W{house}"><city>City {house}</city>')
        for item in range(ITEMS):
            lines.append(f'<item number="{item}" pieces="{random_source.randrange(200)}"/>')
        lines.append("</warehouse>")
    lines.append("</stock>")
    return "".join(lines)


def backlog(root, code, orders):
    """How many orders can be served, and how many pieces are short."""
    served, short = 0, 0
    for place, pieces in orders:
        house = root.find(f".//warehouse[@code='{code}']")  # waste: load
        item = house[1 + place]
        left = int(item.get("pieces")) - pieces
        served += left >= 0
        short -= min(left, 0)
    return served, short


def backlog_fixed(root, code, orders):
    served, short = 0, 0
    house = root.find(f".//warehouse[@code='{code}']")
    for place, pieces in orders:
        item = house[1 + place]
        left = int(item.get("pieces")) - pieces
        served += left >= 0
        short -= min(left, 0)
    return served, short


def work(repeats, check):
    random_source = random.Random(115)
    root = ET.fromstring(stock_file(random_source))
    found = []
    for _ in range(repeats):
        code = f"W{random_source.randrange(WAREHOUSES)}"
        orders = [(random_source.randrange(ITEMS), random_source.randrange(1, 250)) for _ in range(100)]
        found.append(check(root, code, orders))
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, backlog), lambda n: work(n, backlog_fixed), repeats=1700)
