# SPDX-License-Identifier: Apache-2.0
"""A word game: ladders lead from word to word by one letter a step; all other words are looked at for steps."""

import collections
import random

import harness

# Words that differ in one place share a pattern, by which they can be filed: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
LENGTH = 5
ONSETS, VOWELS, CODAS = "bcdfglmprst", "aeiou", "dklnrst"


def vocabulary(rng, count):
    """Words of a made-up language: they sound alike, so that ladders are there."""
    found = set()
    while len(found) < count:
        word = rng.choice(ONSETS) + rng.choice(VOWELS) + rng.choice(CODAS) + rng.choice(VOWELS) + rng.choice(CODAS)
        found.add(word)
    return sorted(found)


def is_step(one, other):
    """Whether they differ in exactly one letter."""
    differs = False
    for a, b in zip(one, other):
        if a != b:
            if differs:
                return False
            differs = True
    return differs


def steps(words):
    table = {}
    for one in words:
        table[one] = [other for other in words if is_step(one, other)]  # waste: load
    return table


def steps_fixed(words):
    files = collections.defaultdict(list)
    for word in words:
        for at in range(LENGTH):
            files[at, word[:at] + word[at + 1:]].append(word)
    table = {word: [] for word in words}
    for alike in files.values():
        for word in alike:
            table[word] += [other for other in alike if other != word]
    return {word: sorted(others) for word, others in table.items()}


class Game:
    def __init__(self, words, table):
        self.words, self.table = words, table

    def distances(self, start):
        """Breadth first: how many steps to each word that can be reached, and by which word."""
        found, before, frontier = {start: 0}, {}, collections.deque([start])
        while frontier:
            word = frontier.popleft()
            for other in self.table[word]:
                if other not in found:
                    found[other] = found[word] + 1
                    before[other] = word
                    frontier.append(other)
        return found, before

    def ladder(self, start, goal):
        _, before = self.distances(start)
        words = [goal]
        while words[-1] in before:
            words.append(before[words[-1]])
        return words if words[-1] == start else []

    def hardest(self, rng, tries):
        """Of some starts the one with the farthest goal."""
        best = (0, "", "")
        for start in rng.sample(self.words, tries):
            found, _ = self.distances(start)
            far = max(found, key=lambda word: (found[word], word))
            best = max(best, (found[far], start, far))
        return best


def vowels(words):
    return sum(letter in VOWELS for word in words for letter in word)


def work(games, stepping):
    rng, rows = random.Random(641), []
    for _ in range(games):
        words = vocabulary(rng, 800)
        game = Game(words, stepping(words))
        length, start, goal = game.hardest(rng, 60)
        ladders = [game.ladder(*rng.sample(words, 2)) for _ in range(60)]
        ends = sum(1 for others in game.table.values() if len(others) < 2)
        rows.append([length, ord(start[0]), ord(goal[0]), ends, sum(map(len, ladders)), sum(map(vowels, ladders))])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, steps), lambda n: work(n, steps_fixed), repeats=170)
