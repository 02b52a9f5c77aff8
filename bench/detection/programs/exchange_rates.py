# SPDX-License-Identifier: Apache-2.0
"""Orders in many currencies are turned to euros; the rate is looked up in an XML document by XPath for each order."""

import numpy as np
from lxml import etree

import harness

CATEGORY = "repeated native calls"
KIND = "store"
CURRENCIES = [a + b + c for a in "ABCD" for b in "KLMN" for c in "RSTU"]


def document(rng, days):
    root = etree.Element("rates")
    for day in range(days):
        group = etree.SubElement(root, "day", number=str(day))
        for currency in CURRENCIES:
            etree.SubElement(group, "rate", currency=currency).text = f"{rng.uniform(0.2, 5.0):.4f}"
    return etree.fromstring(etree.tostring(root))


class Rates:
    def __init__(self, root):
        self.root = root

    def rate(self, currency):
        """The latest one."""
        return float(self.root.xpath("string(day[last()]/rate[@currency=$name])", name=currency))  # waste: store


class FixedRates(Rates):
    def __init__(self, root):
        super().__init__(root)
        self.known = {}

    def rate(self, currency):
        if currency not in self.known:
            self.known[currency] = super().rate(currency)
        return self.known[currency]


def work(repeats, kind):
    rng = np.random.default_rng(65)
    rates = kind(document(rng, 30))
    totals = []
    for _ in range(repeats):
        amounts = rng.uniform(1.0, 500.0, size=500).round(2)
        names = rng.choice(CURRENCIES, size=500)
        totals.append(sum(amount / rates.rate(name) for amount, name in zip(amounts.tolist(), names.tolist())))
    return totals


if __name__ == "__main__":
    harness.main(lambda n: work(n, Rates), lambda n: work(n, FixedRates), repeats=290)
