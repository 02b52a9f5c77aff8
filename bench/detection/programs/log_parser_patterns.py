# SPDX-License-Identifier: Apache-2.0
"""Alert rules are matched against the log of a machine room; each batch of lines compiles all rules again."""

import random
import re

import harness

CATEGORY = "loop-invariant computation"
KIND = "store"
PARTS = ("disk", "fan", "link", "node", "power", "queue", "rack", "switch")
STATES = ("down", "failed", "full", "hot", "lost", "slow")


def rules(random_source):
    """More of them than re keeps compiled."""
    texts = []
    for part in PARTS:
        for state in STATES:
            for number in range(13):
                least = random_source.randrange(2, 6)
                texts.append(rf"^\d+ {part}{number}(?:\.\w+)? (?:is|was) {state} \((?P<level>\d{{{least},}})\)$")
    return texts


def batch(random_source):
    lines = []
    for second in range(40):
        part, state = random_source.choice(PARTS), random_source.choice(STATES)
        number, level = random_source.randrange(13), random_source.randrange(100000)
        lines.append(f"{second} {part}{number} {random_source.choice(['is', 'was'])} {state} ({level})")
    return lines


def alerts(texts, batches):
    found = []
    for lines in batches:
        patterns = [re.compile(text) for text in texts]  # waste: store
        matches = (pattern.search(line) for line in lines for pattern in patterns)
        levels = [int(match["level"]) for match in matches if match]
        found.append([len(levels), sum(levels)])
    return found


def alerts_fixed(texts, batches):
    found = []
    patterns = [re.compile(text) for text in texts]
    for lines in batches:
        matches = (pattern.search(line) for line in lines for pattern in patterns)
        levels = [int(match["level"]) for match in matches if match]
        found.append([len(levels), sum(levels)])
    return found


def work(repeats, watch):
    random_source = random.Random(104)
    texts = rules(random_source)
    return watch(texts, [batch(random_source) for _ in range(repeats)])


if __name__ == "__main__":
    harness.main(lambda n: work(n, alerts), lambda n: work(n, alerts_fixed), repeats=65)
