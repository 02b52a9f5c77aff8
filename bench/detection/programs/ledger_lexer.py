# SPDX-License-Identifier: Apache-2.0
"""Reads a book-keeper's journal; after each word the rest of the text is copied, so that it begins with the next."""

import random
import re

import harness

CATEGORY = "inefficient algorithm"
KIND = "store"
WORD = re.compile(
    r"\s*(?:(?P<date>\d{4}-\d\d-\d\d)|(?P<cents>-?\d+\.\d\d)|(?P<account>[A-Z]\w+(?::\w+)*)|(?P<text>\"[^\"]*\"))"
)
ACCOUNTS = ("Assets:Bank", "Assets:Cash", "Costs:Rent", "Costs:Food", "Costs:Books", "Income:Salary", "Income:Shop")
NOTES = ("coffee", "monthly", "returned", "flea market", "second hand", "by card")


def journal(rng, entries):
    lines = []
    for _ in range(entries):
        paid = rng.randrange(100, 50_000)
        there, back = rng.sample(ACCOUNTS, 2)
        lines.append(f'20{rng.randrange(10, 25)}-0{rng.randrange(1, 10)}-1{rng.randrange(10)} "{rng.choice(NOTES)}"')
        lines.append(f"    {there}  {paid // 100}.{paid % 100:02}\n    {back}  -{paid // 100}.{paid % 100:02}")
    return "\n".join(lines)


class Lexer:
    def __init__(self, text):
        self.rest = text

    def words(self):
        while match := WORD.match(self.rest):
            yield match.lastgroup, match[match.lastgroup]
            self.rest = self.rest[match.end() :]  # waste: store


class FixedLexer(Lexer):
    def words(self):
        place = 0
        while match := WORD.match(self.rest, place):
            yield match.lastgroup, match[match.lastgroup]
            place = match.end()


def balances(words):
    """Cents on each account."""
    sums, account = dict.fromkeys(ACCOUNTS, 0), None
    for kind, word in words:
        if kind == "account":
            account = word
        elif kind == "cents":
            sums[account] += int(word.replace(".", ""))
    return sums


def work(repeats, kind):
    rng = random.Random(1494)
    return [list(balances(kind(journal(rng, 6_000)).words()).values()) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, Lexer), lambda n: work(n, FixedLexer), repeats=21)
