# SPDX-License-Identifier: Apache-2.0
"""Phone tariffs: a large XML feed is read as a stream by lxml, each offer is let go once its prices are known."""

import collections
import io
import itertools
import random

from lxml import etree

import harness

NETWORKS = ("Alder", "Birch", "Cedar", "Damson")
FEATURES = ("roaming", "hotspot", "esim", "music", "calls abroad", "voicemail")
BUNDLES = ["".join(f"<feature>{name}</feature>" for name in chosen)
           for size in range(5) for chosen in itertools.combinations(FEATURES, size)]
Offer = collections.namedtuple("Offer", "network fee data minutes months features")


def feed(rng, count):
    """As the comparison site gets it each night."""
    parts = ["<tariffs>"]
    columns = [rng.choices(values, k=count) for values in (
        NETWORKS, (1, 12, 24), range(499, 5999), range(1, 80), range(0, 900, 50), BUNDLES)]
    for number, (network, months, fee, data, minutes, bundle) in enumerate(zip(*columns)):
        parts.append(f'<offer id="{number}" months="{months}"><network>{network}</network><fee>{fee}</fee>'
                     f"<data>{data}</data><minutes>{minutes}</minutes>{bundle}"
                     f"<note>Price valid until further notice &amp; without device.</note></offer>")
    parts.append("</tariffs>")
    return "".join(parts).encode()


def offers(data):
    for _, node in etree.iterparse(io.BytesIO(data), tag="offer"):
        values, features = {}, []
        for child in node:
            if child.tag == "feature":
                features.append(child.text)
            else:
                values[child.tag] = child.text
        yield Offer(values["network"], int(values["fee"]), int(values["data"]), int(values["minutes"]),
                    int(node.get("months")), frozenset(features))
        node.clear()
        while node.getprevious() is not None:
            del node.getparent()[0]


def frontier(found):
    """Offers that no other one beats in both fee and data, the cheapest first."""
    best, kept = -1, []
    for offer in sorted(found, key=lambda offer: (offer.fee, -offer.data)):
        if offer.data > best:
            best = offer.data
            kept.append(offer)
    return kept


class Customer:
    def __init__(self, rng):
        self.data, self.minutes = rng.randrange(1, 60), rng.randrange(0, 600)
        self.wants = frozenset(rng.sample(FEATURES, rng.randrange(3)))

    def choose(self, by_fee):
        """The cheapest that fits, from a list that is in the order of fees."""
        data, minutes, wants = self.data, self.minutes, self.wants
        for offer in by_fee:
            if offer.data >= data and offer.minutes >= minutes and offer.features >= wants:
                return offer.fee
        return 0


def work(nights):
    rng, rows = random.Random(649), []
    customers = [Customer(rng) for _ in range(200)]
    for _ in range(nights):
        found = list(offers(feed(rng, 2500)))
        by_fee = sorted(found, key=lambda offer: offer.fee)
        fees = [customer.choose(by_fee) for customer in customers]
        networks = collections.Counter(offer.network for offer in found)
        rows.append([len(frontier(found)), sum(fees), max(fees), *(networks[name] for name in NETWORKS),
                     sum(offer.months == 1 for offer in found)])
    return rows


if __name__ == "__main__":
    harness.main(work, repeats=160)
