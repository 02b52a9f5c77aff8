# SPDX-License-Identifier: Apache-2.0
"""Departure boards: timetables in XML become pages of HTML by lxml, a page for each station, and are checked."""

import itertools
import random

from lxml import etree

import harness

STATIONS = ("Achern", "Brilon", "Coswig", "Dornach", "Eltville", "Forst", "Goslar", "Hagenow", "Idar", "Jever")
TITLES = ("Time", "Train", "To", "Platform", "Remark")
KINDS = ("RB", "RE", "IC", "S")
REMARKS = ("bicycles & prams in the last coach", "no ramp", "runs < 8 coaches", "café", "")


def timetable(rng, trains):
    """A day's trains, each with its stops in order; as bytes, as the dispatcher sends it."""
    root = etree.Element("timetable", day=str(rng.randrange(365)))
    for number in range(trains):
        train = etree.SubElement(root, "train", kind=rng.choice(KINDS), number=str(1000 + number))
        time = rng.randrange(4 * 60, 22 * 60)
        stops = rng.sample(STATIONS, rng.randrange(3, 8))
        for stop in stops:
            node = etree.SubElement(train, "stop", station=stop, platform=str(rng.randrange(1, 9)))
            etree.SubElement(node, "arrives").text = clock(time)
            etree.SubElement(node, "departs").text = clock(time + 2)
            time += rng.randrange(6, 25)
        if remark := rng.choice(REMARKS):
            etree.SubElement(train, "remark").text = remark
    return etree.tostring(root, encoding="utf-8")


def clock(minutes):
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}"


def departures(root):
    """Rows by station, in one walk through the document."""
    found = {station: [] for station in STATIONS}
    for train in root.iterchildren("train"):
        name = f"{train.get('kind')} {train.get('number')}"
        remark = train.findtext("remark", "")
        stops = list(train.iterchildren("stop"))
        last = stops[-1].get("station")
        for stop in stops[:-1]:
            found[stop.get("station")].append((stop.findtext("departs"), name, last, stop.get("platform"), remark))
    for rows in found.values():
        rows.sort()
    return found


def board(station, rows):
    """A page: a table with a row for each train."""
    page = etree.Element("html")
    etree.SubElement(etree.SubElement(page, "head"), "title").text = f"Departures from {station}"
    body = etree.SubElement(page, "body")
    etree.SubElement(body, "h1").text = station
    table = etree.SubElement(body, "table")
    for tag, row in itertools.chain([("th", TITLES)], zip(itertools.repeat("td"), rows)):
        line = etree.SubElement(table, "tr")
        for cell in row:
            etree.SubElement(line, tag).text = cell
    return page


def gaps(rows):
    """The longest time without a train."""
    minutes = [60 * int(row[0][:2]) + int(row[0][3:]) for row in rows]
    return max((after - before for before, after in zip(minutes, minutes[1:])), default=0)


def check(page, rows):
    """Reads the page as a browser would: the rows must be there, with as many cells as have a text."""
    parsed = etree.fromstring(page)
    cells = sum(1 for cell in parsed.iter("td") if cell.text)
    shown = sum(1 for _ in parsed.iter("tr")) - 1
    if shown != len(rows):
        raise ValueError(f"a page has {shown} of {len(rows)} rows")
    return cells


def day(rng):
    root = etree.fromstring(timetable(rng, 120))
    pages, cells, longest, platforms = 0, 0, 0, 0
    for station, rows in departures(root).items():
        page = etree.tostring(board(station, rows), encoding="utf-8", pretty_print=True)
        pages += len(page)
        cells += check(page, rows)
        longest = max(longest, gaps(rows))
        platforms += len({row[3] for row in rows})
    return [int(root.get("day")), pages, cells, longest, platforms]


def work(days):
    rng = random.Random(7214)
    return [day(rng) for _ in range(days)]


if __name__ == "__main__":
    harness.main(work, repeats=570)
