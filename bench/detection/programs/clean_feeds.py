# SPDX-License-Identifier: Apache-2.0
"""News feeds with lxml: each one built, written as text, read again and asked with compiled XPath."""

import random

from lxml import etree

import harness

RECENT = etree.XPath("/feed/entry[number(@day) > $day]")
TOPICS = ("town", "sport", "weather", "music")


def feed(rng, number):
    root = etree.Element("feed", number=str(number))
    for _ in range(rng.randrange(20, 60)):
        entry = etree.SubElement(root, "entry", day=str(rng.randrange(365)))
        etree.SubElement(entry, "title").text = f"Report {rng.randrange(10**6)}"
        etree.SubElement(entry, "topic").text = rng.choice(TOPICS)
        etree.SubElement(entry, "readers").text = str(rng.randrange(10**4))
    return root


def readers(root, day):
    """Of recent entries, by topic."""
    found = dict.fromkeys(TOPICS, 0)
    for entry in RECENT(root, day=day):
        found[entry.findtext("topic")] += int(entry.findtext("readers"))
    return found


def work(repeats):
    rng = random.Random(307)
    results = []
    for number in range(repeats):
        text = etree.tostring(feed(rng, number))
        found = readers(etree.fromstring(text), rng.randrange(365))
        results.append([len(text), *found.values()])
    return results


if __name__ == "__main__":
    harness.main(work, repeats=10_000)
