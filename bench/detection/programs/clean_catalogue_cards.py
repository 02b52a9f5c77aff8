# SPDX-License-Identifier: Apache-2.0
"""A library's cards as XML, sent in pieces: a pull parser takes them apart as they come and lets go of what is read."""

import collections
import random
import xml.etree.ElementTree as ET
from xml.sax.saxutils import escape, quoteattr

import harness

SUBJECTS = ("art & craft", "botany", "history", "law", "music", "seafaring", "x < y: algebra")
WRITTEN = {name: f"<subject>{escape(name)}</subject>" for name in SUBJECTS}
PIECE = 4096


def delivery(rng):
    """The text of one file of cards, no two alike."""
    parts = ["<cards>"]
    for _ in range(400):
        shelf = f"{rng.randrange(900)}.{rng.randrange(10_000)}"
        title = " ".join(f"{rng.getrandbits(rng.randrange(8, 30)):x}" for _ in range(rng.randrange(2, 9)))
        parts.append(f"<card shelf={quoteattr(shelf)}><title>{title}</title><year>{rng.randrange(1700, 2025)}</year>")
        parts += [WRITTEN[name] for name in rng.sample(SUBJECTS, rng.randrange(1, 4))]
        parts.append("</card>")
    return "".join([*parts, "</cards>"])


def events(text):
    parser = ET.XMLPullParser(("start", "end"))
    for start in range(0, len(text), PIECE):
        parser.feed(text[start : start + PIECE])
        yield from parser.read_events()
    parser.close()
    yield from parser.read_events()


def cards(text):
    root = None
    for event, element in events(text):
        if root is None:
            root = element
        elif event == "end" and element.tag == "card":
            yield element
            root.clear()


def summary(text):
    """How many cards by subject, the oldest year, the letters of all titles."""
    subjects, oldest, letters = collections.Counter(), 9999, 0
    for card in cards(text):
        subjects.update(element.text for element in card.iterfind("subject"))
        oldest = min(oldest, int(card.findtext("year")))
        letters += len(card.findtext("title")) + len(card.get("shelf"))
    return [oldest, letters, *(subjects[name] for name in SUBJECTS)]


def work(repeats):
    rng = random.Random(501)
    return [summary(delivery(rng)) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=1600)
