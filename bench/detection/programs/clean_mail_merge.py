# SPDX-License-Identifier: Apache-2.0
"""Letters of an association from templates: parsed once, then filled and wrapped for each member."""

import random
import re
import string
import textwrap

import harness

FIELD = re.compile(r"\{(\w+)(?::(\w+))?\}")
MONTHS = "January February March April May June July August September October November December".split()
TEMPLATES = {
    "fee": "Dear {title} {name}, your fee for {year} of {cents:money} is due on {due:date}. {reason:plain} If it has been "
           "paid in the meantime, please ignore this letter. Your number is {number:digits}.",
    "thanks": "Dear {title} {name}, we thank you for {cents:money}, which we received on {due:date}. {reason:plain} "
              "The receipt for the tax office has the number {number:digits}.",
    "meeting": "Dear {title} {name}, we invite you to the meeting on {due:date}. {reason:plain} Number {number:digits} "
               "will be asked for at the door, and your vote counts {votes} times.",
}
REASONS = ("roof", "organ", "library", "garden", "choir", "kitchen")

FORMATS = {
    None: str,
    "plain": str.capitalize,
    "money": lambda cents: f"{cents // 100:,}.{cents % 100:02} euros",
    "date": lambda day: f"{day % 28 + 1} {MONTHS[day // 28 % 12]}",
    "digits": lambda number: f"{number // 1000:03}-{number % 1000:03}",
}


class Template:
    """Literal parts with the fields between them."""

    def __init__(self, text):
        parts = FIELD.split(text)
        self.first = parts[0]
        self.rest = [(name, FORMATS[form], after) for name, form, after in zip(parts[1::3], parts[2::3], parts[3::3])]

    def fill(self, member):
        found = [self.first]
        for name, form, after in self.rest:
            found += (form(member[name]), after)
        return "".join(found)


class Register:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def name(self):
        draw = self.random
        return "".join(draw.choices(string.ascii_lowercase, k=draw.randrange(3, 12))).capitalize()

    def member(self, year):
        draw = self.random
        reason = " and the ".join(draw.sample(REASONS, 2))
        return {
            "title": draw.choice(("Mr", "Ms", "Dr")), "name": self.name(), "year": year, "cents": draw.randrange(1_500, 400_000),
            "due": draw.randrange(336), "number": draw.randrange(10**6), "votes": draw.randrange(1, 4),
            "reason": f"it is meant for the {reason} of the house." if draw.random() < 0.8 else "",
        }


def envelope(letter, width):
    """Lines of the letter, and whether they need a second page."""
    lines = textwrap.wrap(letter, width)
    return lines, len(lines) > 7


def work(letters):
    register, templates = Register(1517), {kind: Template(text) for kind, text in TEMPLATES.items()}
    kinds = tuple(templates)
    wrapped, pages, found = dict.fromkeys(templates, 0), 0, []
    for number in range(letters):
        member = register.member(2000 + number % 24)
        kind = register.random.choice(kinds)
        lines, is_long = envelope(templates[kind].fill(member), 44)
        wrapped[kind] += sum(map(len, lines))
        pages += 1 + is_long
        found.append(len(lines[-1]))
    return [pages, *wrapped.values(), *found]


if __name__ == "__main__":
    harness.main(work, repeats=150000)
