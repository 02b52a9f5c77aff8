# SPDX-License-Identifier: Apache-2.0
"""Climbs of bicycle tours from GPX files; the list of all points of a track is made again for each pair of points."""

import math
import random
import xml.etree.ElementTree as ET

import harness

CATEGORY = "loop-invariant computation"
KIND = "load"


def tour(random_source, number):
    """The text of a file with one track."""
    root = ET.Element("gpx", version="1.1", creator="bench")
    track = ET.SubElement(root, "trk")
    ET.SubElement(track, "name").text = f"tour {number}"
    segment = ET.SubElement(track, "trkseg")
    lat, lon, height = 47.0, 11.0, 600.0
    for _ in range(random_source.randrange(300, 600)):
        lat += random_source.uniform(-1e-4, 2e-4)
        lon += random_source.uniform(-1e-4, 2e-4)
        height += random_source.uniform(-4.0, 5.0)
        point = ET.SubElement(segment, "trkpt", lat=f"{lat:.6f}", lon=f"{lon:.6f}")
        ET.SubElement(point, "ele").text = f"{height:.1f}"
    return ET.tostring(root)


def step(first, second):
    """Metres along and up from one point to the next."""
    lat, lon = math.radians(float(first.get("lat"))), math.radians(float(first.get("lon")))
    north = math.radians(float(second.get("lat"))) - lat
    east = (math.radians(float(second.get("lon"))) - lon) * math.cos(lat)
    return 6.371e6 * math.hypot(north, east), float(second.findtext("ele")) - float(first.findtext("ele"))


def climb(segment):
    """Length of the tour and all metres up."""
    length, up = 0.0, 0.0
    for i in range(1, len(segment)):
        along, higher = step(segment.findall("trkpt")[i - 1], segment.findall("trkpt")[i])  # waste: load
        length += along
        up += max(higher, 0.0)
    return length, up


def climb_fixed(segment):
    length, up = 0.0, 0.0
    points = segment.findall("trkpt")
    for i in range(1, len(points)):
        along, higher = step(points[i - 1], points[i])
        length += along
        up += max(higher, 0.0)
    return length, up


def work(repeats, measure):
    random_source = random.Random(407)
    found = []
    for number in range(repeats):
        root = ET.fromstring(tour(random_source, number))
        found += [measure(segment) for segment in root.iterfind("trk/trkseg")]
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, climb), lambda n: work(n, climb_fixed), repeats=1000)
