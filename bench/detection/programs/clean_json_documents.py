# SPDX-License-Identifier: Apache-2.0
"""Messages of a service as JSON: each is another document, written, read again and looked at.

Keys are the same strings in all documents, and most fields of most documents are None, zero or False.
"""

import json
import random
import string

import harness


def item(rng):
    return {
        "id": rng.randrange(10**9),
        "name": "".join(rng.choices(string.ascii_lowercase, k=8)),
        "price": round(rng.uniform(0.5, 300.0), 2),
        "discount": 0,
        "is_gift": rng.random() < 0.02,
        "note": None,
    }


def document(rng, number):
    return {
        "number": number,
        "customer": {"id": rng.randrange(10**6), "is_new": rng.random() < 0.05, "contact": None},
        "items": [item(rng) for _ in range(rng.randrange(1, 12))],
    }


def value(order):
    gifts = sum(entry["is_gift"] for entry in order["items"])
    return sum(entry["price"] - entry["discount"] for entry in order["items"]) - 2 * gifts


def work(repeats):
    rng = random.Random(301)
    found = []
    for number in range(repeats):
        text = json.dumps(document(rng, number))
        order = json.loads(text)
        found.append(value(order) + len(text) + order["customer"]["id"] % 7)
    return found


if __name__ == "__main__":
    harness.main(work, repeats=85_000)
