# SPDX-License-Identifier: Apache-2.0
"""Overdue loans from the XML exports of libraries; the XPath expressions are compiled once, each document is new."""

import random

from lxml import etree

import harness

OVERDUE = etree.XPath("/export/reader[@active='1']/loan[number(@due) < $today]")
FINES = etree.XPath("sum(/export/reader/fine[not(@paid)])")
READERS = etree.XPath("count(/export/reader[count(loan) >= $least])")


def export(rng, readers):
    lines = ["<export>"]
    for number in range(readers):
        lines.append(f'<reader id="r{number}" active="{int(rng.random() < 0.9)}">')
        for _ in range(rng.randrange(6)):
            lines.append(f'<loan due="{rng.randrange(1, 366)}" medium="{rng.choice(("book", "film", "map"))}"/>')
        if rng.random() < 0.2:
            paid = ' paid="1"' if rng.random() < 0.5 else ""
            lines.append(f"<fine{paid}>{rng.randrange(50, 900)}</fine>")
        lines.append("</reader>")
    lines.append("</export>")
    return "\n".join(lines).encode()


def report(data, today):
    """Days overdue by medium, unpaid fines, and readers with three loans or more."""
    root = etree.fromstring(data)
    days = dict.fromkeys(("book", "film", "map"), 0)
    for loan in OVERDUE(root, today=today):
        days[loan.get("medium")] += today - int(loan.get("due"))
    return [*days.values(), FINES(root), READERS(root, least=3)]


def work(repeats):
    rng = random.Random(1595)
    sums = [0.0] * 5
    for _ in range(repeats):
        found = report(export(rng, 60), rng.randrange(1, 366))
        sums = [a + b for a, b in zip(sums, found)]
    return sums


if __name__ == "__main__":
    harness.main(work, repeats=10_000)
