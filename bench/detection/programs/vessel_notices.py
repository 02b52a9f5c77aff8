# SPDX-License-Identifier: Apache-2.0
"""Notices to mariners: XML bulletins are read into node objects of Python before a few fields are taken."""

import collections
import random
from xml.dom import minidom
from xml.etree import ElementTree

import harness

# minidom builds a Python object for each node, and even for each text; ElementTree is compiled: API misuse.
CATEGORY = "API misuse"
KIND = "load"
AREAS = ("North", "Baltic", "Biscay", "Irish", "Skagerrak", "Adriatic")
KINDS = ("buoy", "wreck", "light", "cable", "exercise", "ice")
WORDS = ("position", "moved", "temporarily", "unlit", "keep", "clear", "&lt; 2 miles")
Notice = collections.namedtuple("Notice", "number kind area latitude longitude first last words")


def bulletin(rng, count):
    """As the office sends it, with white space to read it by eye."""
    parts = ['<?xml version="1.0"?>\n<bulletin week="7">\n']
    for number in range(count):
        first = rng.randrange(300)
        text = " ".join(rng.choices(WORDS, k=30))
        parts.append(f"""  <notice number="{number}" kind="{rng.choice(KINDS)}">
    <area>{rng.choice(AREAS)}</area>
    <position>
      <latitude>{rng.uniform(36, 66):.4f}</latitude>
      <longitude>{rng.uniform(-10, 24):.4f}</longitude>
    </position>
    <valid from="{first}" to="{first + rng.randrange(1, 90)}"/>
    <text>{text}</text>
  </notice>
""")
    return "".join((*parts, "</bulletin>\n"))


def content(node, name):
    return node.getElementsByTagName(name)[0].firstChild.data


def notices(text):
    found, document = [], minidom.parseString(text)  # waste: load
    for node in document.getElementsByTagName("notice"):
        valid = node.getElementsByTagName("valid")[0]
        found.append(Notice(int(node.getAttribute("number")), node.getAttribute("kind"), content(node, "area"),
                            float(content(node, "latitude")), float(content(node, "longitude")),
                            int(valid.getAttribute("from")), int(valid.getAttribute("to")),
                            len(content(node, "text").split())))
    return found


def notices_fixed(text):
    found = []
    for node in ElementTree.fromstring(text).iterfind("notice"):
        position, valid = node.find("position"), node.find("valid")
        found.append(Notice(int(node.get("number")), node.get("kind"), node.findtext("area"),
                            float(position.findtext("latitude")), float(position.findtext("longitude")),
                            int(valid.get("from")), int(valid.get("to")), len(node.findtext("text").split())))
    return found


class Chart:
    """A square of the sea with its notices by day."""

    def __init__(self, rng):
        self.south, self.west = rng.uniform(38, 58), rng.uniform(-8, 16)
        self.size = rng.uniform(3, 8)
        self.open = []

    def covers(self, notice):
        return 0 <= notice.latitude - self.south < self.size and 0 <= notice.longitude - self.west < self.size * 1.6

    def take(self, found):
        self.open = [notice for notice in found if self.covers(notice)]

    def busiest(self):
        """The day with most notices in force: begins and ends in the order of time."""
        changes = sorted([(notice.first, 1) for notice in self.open] + [(notice.last, -1) for notice in self.open])
        count = most = day = 0
        for at, change in changes:
            count += change
            if count > most:
                most, day = count, at
        return most, day


def work(bulletins, reading):
    rng, rows = random.Random(645), []
    charts = [Chart(rng) for _ in range(60)]
    for _ in range(bulletins):
        found = reading(bulletin(rng, 300))
        for chart in charts:
            chart.take(found)
        days = [chart.busiest() for chart in charts]
        kinds = collections.Counter((notice.area, notice.kind) for notice in found)
        rows.append([len(found), sum(most for most, _ in days), sum(day for _, day in days), max(kinds.values()),
                     sum(notice.words for notice in found)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, notices), lambda n: work(n, notices_fixed), repeats=210)
