# SPDX-License-Identifier: Apache-2.0
"""Pages of a wiki and their versions: what changed is written as a difference, and restored from it."""

import difflib
import random

import harness

SYLLABLES = ("ra", "lo", "mi", "ten", "sa", "ku", "per", "do", "vi", "en", "tor", "gal")


def line(rng):
    words = ("".join(rng.choices(SYLLABLES, k=rng.randrange(1, 4))) for _ in range(rng.randrange(5, 12)))
    return " ".join(words) + ".\n"


def edited(rng, lines):
    """A new version: lines go, come and get another word."""
    lines = list(lines)
    for _ in range(rng.randrange(2, 9)):
        place = rng.randrange(len(lines))
        what = rng.random()
        if what < 0.3 and len(lines) > 20:
            del lines[place]
        elif what < 0.65:
            lines.insert(place, line(rng))
        else:
            words = lines[place].split(" ")
            words[rng.randrange(len(words) - 1)] = rng.choice(SYLLABLES)
            lines[place] = " ".join(words)
    return lines


def work(repeats):
    rng = random.Random(759)
    found = []
    for _ in range(repeats):
        page = [line(rng) for _ in range(60)]
        changes, wrong = 0, 0
        for _ in range(12):
            version = edited(rng, page)
            difference = list(difflib.ndiff(page, version))
            changes += sum(entry[0] in "+-" for entry in difference)
            wrong += list(difflib.restore(difference, 2)) != version
            page = version
        found.append([changes, wrong, sum(map(len, page))])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1200)
