# SPDX-License-Identifier: Apache-2.0
"""Numbers of containers in a port's messages: patterns are matched against single characters, not against the code."""

import operator
import random
import re

import harness

# One pattern describes the whole code, and its groups hand out the parts; re.match per character starts the engine (and
# looks the pattern up) eleven times for it. The characters differ: no call is the same again. API misuse.
CATEGORY = "API misuse"
KIND = "load"
OWNERS = ("MSCU", "HLXU", "CMAU", "TGHU", "OOLU", "EISU", "NYKU", "ZIMZ", "SUDJ")
CODE = re.compile(r"([A-Z]{3}[UJZ])(\d{6})(\d)")

# Letters count from 10, without the multiples of 11.
VALUES = {letter: value for letter, value in zip(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ", (value for value in range(10, 39) if value % 11))}
VALUES |= {digit: int(digit) for digit in "0123456789"}


def check_digit(start):
    return sum(map(operator.lshift, map(VALUES.get, start), range(10))) % 11 % 10


class Port:
    """Messages about containers, some of them mistyped."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.fleet = [self.container() for _ in range(4_000)]

    def container(self):
        start = self.random.choice(OWNERS) + f"{self.random.randrange(1_000_000):06}"
        whole = f"{start}{check_digit(start)}"
        if self.random.random() < 0.12:
            place = self.random.randrange(11)
            whole = whole[:place] + self.random.choice("ABO017 -x") + whole[place + 1:]
        return whole

    def message(self):
        draw = self.random
        action = draw.choice(("IN", "OUT", "HOLD"))
        codes = draw.choices(self.fleet, k=draw.randrange(3, 30))
        return f"BERTH {draw.randrange(1, 9)}|{action}|" + "|".join(codes)


def parts(code):
    """Owner, number and check digit; None if it isn't a code."""
    if len(code) != 11:
        return None
    owner, number = "", ""
    for place, letter in enumerate(code):
        if place < 3 and re.match(r"[A-Z]", letter):  # waste: load
            owner += letter
        elif place == 3 and re.match(r"[UJZ]", letter):  # waste: load
            owner += letter
        elif place > 3 and re.match(r"[0-9]", letter):  # waste: load
            number += letter
        else:
            return None
    return owner, number[:6], int(number[6])


def parts_fixed(code):
    found = CODE.fullmatch(code)
    return (found[1], found[2], int(found[3])) if found else None


def read(message, split):
    """The berth, what was done there, numbers by owner of the sound codes, and how many codes were not sound."""
    head, action, *codes = message.split("|")
    sound, unsound = {}, 0
    for code in codes:
        found = split(code)
        if found and check_digit(found[0] + found[1]) == found[2]:
            sound.setdefault(found[0], []).append(int(found[1]))
        else:
            unsound += 1
    return int(head[6:]), action, sound, unsound


def work(messages, split):
    port, found = Port(6346), []
    totals = dict.fromkeys(("IN", "OUT", "HOLD"), 0)
    for _ in range(messages):
        berth, action, sound, unsound = read(port.message(), split)
        totals[action] += sum(number % 97 for numbers in sound.values() for number in numbers)
        found.extend((berth, unsound, len(sound)))
    return [*found, *totals.values()]


if __name__ == "__main__":
    harness.main(lambda n: work(n, parts), lambda n: work(n, parts_fixed), repeats=64000)
