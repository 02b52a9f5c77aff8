# SPDX-License-Identifier: Apache-2.0
"""Doubled detections of people are dropped; the overlap of two boxes picks its corners out of arrays, one at a time."""

import numpy as np

import harness

CATEGORY = "slice underutilization"
KIND = "load"


def detections(rng, people=14, doubles=16):
    """Boxes (left, top, right, bottom) around each person, and how sure the network is of each."""
    corners = np.repeat(rng.uniform(0, 900, size=(people, 2)), doubles, axis=0)
    corners += rng.normal(scale=9.0, size=corners.shape)
    sizes = np.repeat(rng.uniform(40, 160, size=(people, 2)), doubles, axis=0) + rng.uniform(-6, 6, corners.shape)
    return np.hstack([corners, corners + sizes]), rng.beta(5, 2, size=len(corners))


def area(box):
    return (box[2] - box[0]) * (box[3] - box[1])  # waste: load


def overlap(one, other):
    """Intersection over union."""
    width = min(one[2], other[2]) - max(one[0], other[0])  # waste: load
    height = min(one[3], other[3]) - max(one[1], other[1])  # waste: load
    if width <= 0 or height <= 0:
        return 0.0
    common = width * height
    return common / (area(one) + area(other) - common)


def suppress(boxes, scores, limit=0.45):
    kept = []
    for number in np.argsort(-scores):
        if all(overlap(boxes[earlier], boxes[number]) < limit for earlier in kept):  # waste: load
            kept.append(number)
    return kept


def overlaps(one, others):
    size = np.minimum(one[2:], others[:, 2:]) - np.maximum(one[:2], others[:, :2])
    common = np.prod(np.maximum(size, 0.0), axis=1)
    areas = np.prod(others[:, 2:] - others[:, :2], axis=1)
    return common / (np.prod(one[2:] - one[:2]) + areas - common)


def suppress_fixed(boxes, scores, limit=0.45):
    kept, order = [], np.argsort(-scores)
    while len(order):
        kept.append(order[0])
        order = order[1:][overlaps(boxes[order[0]], boxes[order[1:]]) < limit]
    return kept


def work(repeats, filter_boxes):
    rng = np.random.default_rng(2014)
    found = []
    for _ in range(repeats):
        boxes, scores = detections(rng)
        kept = filter_boxes(boxes, scores)
        found.append([len(kept), boxes[kept].mean(), scores[kept].min()])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, suppress), lambda n: work(n, suppress_fixed), repeats=1_550)
