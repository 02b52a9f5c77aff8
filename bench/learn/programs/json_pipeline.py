# SPDX-License-Identifier: Apache-2.0
"""Documents of very different sizes are parsed, flattened, summed up, written again; one in 50 is compressed."""

import json
import random
import zlib

from common import loop, run

COUNT = 11_000
FIELDS = ["price", "amount", "discount", "weight", "rank", "score"]


def document(choice, number):
    size = min(300, int(3 * choice.paretovariate(1.2)))
    rows = [{"name": f"item {choice.randrange(1000)}", "tags": choice.sample(FIELDS, 2),
             "values": {field: round(choice.random() * 1000, 3) for field in FIELDS}} for _ in range(size)]
    return json.dumps({"number": number, "rows": rows})


def items(count):
    choice = random.Random(11)
    texts = [document(choice, number) for number in range(1000)]
    return iter(choice.choices(texts, k=count))


def flatten(value, name, into):
    """Every number and string of a document by its path."""
    if isinstance(value, dict):
        for key, inner in value.items():
            flatten(inner, f"{name}.{key}", into)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            flatten(inner, f"{name}[{number}]", into)
    else:
        into[name] = value


def totals(rows):
    """Sums by field."""
    sums = dict.fromkeys(FIELDS, 0.0)
    for row in rows:
        for field, value in row["values"].items():
            sums[field] += value
    return sums


def work(items):
    checksum = packed = 0
    for text in loop(items):
        record = json.loads(text)
        flat = {}
        flatten(record, "", flat)
        sums = totals(record["rows"])
        largest = max(sums.values())
        names = sorted(flat)
        out = json.dumps(flat)
        data = out.encode()
        checksum = zlib.crc32(data, checksum)
        if record["number"] % 50 == 0:
            packed += len(
                zlib.compress(data, 9))
        if largest < names.count("x"):
            raise AssertionError(text)
    return checksum, packed


if __name__ == "__main__":
    run(work, items, COUNT)
