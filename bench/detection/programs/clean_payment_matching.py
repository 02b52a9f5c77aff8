# SPDX-License-Identifier: Apache-2.0
"""Payments are matched to open invoices: by the number in the text, else by the oldest invoice of the same amount."""

import collections
import decimal
import random
import re

import harness

NUMBER = re.compile(r"\b(?:INV|RE)[-/ ]?(\d{6})\b", re.IGNORECASE)
WORDS = ["payment", "thank you", "order", "Inv", "invoice", "for", "balance"]


class OpenInvoices:
    def __init__(self):
        self.amounts = {}
        self.by_amount = collections.defaultdict(collections.deque)

    def add(self, number, amount):
        self.amounts[number] = amount
        self.by_amount[amount].append(number)

    def settle(self, text, amount):
        """The number of the invoice that is paid, or None."""
        named = NUMBER.search(text)
        if named and self.amounts.get(named[1]) == amount:
            del self.amounts[named[1]]
            return named[1]
        waiting = self.by_amount.get(amount)
        while waiting:
            number = waiting.popleft()
            if self.amounts.pop(number, None) is not None:
                return number
        return None


def reference(random_source, number):
    """What customers write: most give the number, some wrongly, some not at all."""
    kind = random_source.random()
    if kind < 0.6:
        return f"{random_source.choice(WORDS)} {random_source.choice(['INV-', 're ', 'Re/', 'inv'])}{number}"
    if kind < 0.7:
        return f"INV-{random_source.randrange(10**6):06}"
    return " ".join(random_source.sample(WORDS, 3))


def month(random_source, first, count):
    """Invoices of a month, and the payments for most of them as a bank's lines, in any order."""
    issued, lines = [], []
    for k in range(count):
        number, cents = f"{(first + k) % 10**6:06}", random_source.randrange(1_000, 90_000)
        issued.append((number, decimal.Decimal(cents).scaleb(-2)))
        if random_source.random() < 0.95:
            paid = cents - (random_source.random() < 0.03)
            lines.append(f"{reference(random_source, number)};{paid // 100}.{paid % 100:02}")
    random_source.shuffle(lines)
    return issued, lines


def work(repeats):
    random_source = random.Random(1494)
    invoices = OpenInvoices()
    found = []
    for k in range(repeats):
        issued, lines = month(random_source, 4_000 * k, 4_000)
        for number, amount in issued:
            invoices.add(number, amount)
        total, missed = decimal.Decimal(0), 0
        for line in lines:
            text, _, digits = line.partition(";")
            amount = decimal.Decimal(digits)
            if invoices.settle(text, amount) is None:
                missed += 1
            else:
                total += amount
        found.append([float(total), missed, len(invoices.amounts)])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=200)
