# SPDX-License-Identifier: Apache-2.0
"""Sorts the releases of packages: a comparison takes both version strings apart, each time it is called."""

import functools
import json
import random
import re

import harness

# The same few strings are split for every comparison that they are in: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"
PARTS = re.compile(r"\d+|[a-z]+")
ORDER = {"dev": -4, "a": -3, "b": -2, "rc": -1, "post": 1}


def version(rng):
    text = ".".join(str(rng.randrange(30)) for _ in range(rng.choice((2, 3, 3, 4))))
    if rng.random() < 0.3:
        text += rng.choice(("a", "b", "rc", ".post", ".dev")) + str(rng.randrange(1, 9))
    return text


def index(rng, packages):
    """The text of a package index."""
    names = {f"py{rng.choice('abcdefgh')}{number}" for number in range(packages)}
    return json.dumps({name: [{"version": version(rng), "size": rng.randrange(10**7), "yanked": rng.random() < 0.02}
                              for _ in range(rng.randrange(5, 160))] for name in sorted(names)})


def parse(text):
    return [(0, int(part)) if part.isdigit() else (ORDER[part], 0) for part in PARTS.findall(text)] + [(0, -1)]  # waste: load


def compare(first, second):
    a, b = parse(first["version"]), parse(second["version"])  # waste: load
    if a == b:
        return 0
    return -1 if a < b else 1


def ordered(releases):
    return sorted(releases, key=functools.cmp_to_key(compare))


def ordered_fixed(releases):
    return sorted(releases, key=lambda release: parse(release["version"]))


def latest(releases):
    """Neither yanked nor a preview, if there is one."""
    good = [r for r in releases if not r["yanked"] and not re.search("[a-z]", r["version"])]
    return (good or releases)[-1]


def work(mirrors, sort):
    rng, found = random.Random(503), []
    for _ in range(mirrors):
        packages = json.loads(index(rng, 60))
        for name, releases in packages.items():
            releases = sort(releases)
            newest = latest(releases)
            found.append([newest["size"], sum(i * r["size"] for i, r in enumerate(releases)) % 9973, len(name)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, ordered), lambda n: work(n, ordered_fixed), repeats=55)
