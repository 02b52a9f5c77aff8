# SPDX-License-Identifier: Apache-2.0
"""Crosswords: a grid is filled by a search that goes on where the fewest words fit; sets of words are bits."""

import collections
import itertools
import random

import harness

SIZE = 5
VOWELS, CONSONANTS = "aeiou", "bcdghlmnprst"
BUDGET = 6000


def lexicon(rng, count):
    """Words that can be spoken: vowels and consonants mostly take turns."""
    found = set()
    while len(found) < count:
        start = rng.random() < 0.4
        letters = [rng.choice(VOWELS if (at + start) % 2 else CONSONANTS) for at in range(SIZE)]
        if rng.random() < 0.3:
            letters[rng.randrange(SIZE)] = rng.choice(CONSONANTS)
        found.add("".join(letters))
    return sorted(found)


class Filler:
    def __init__(self, lexicon):
        self.lexicon = lexicon
        self.everything = (1 << len(lexicon)) - 1
        self.masks = collections.defaultdict(int)  # place and letter -> a bit for each word
        for bit, word in enumerate(lexicon):
            for place in enumerate(word):
                self.masks[place] |= 1 << bit
        letters = [sorted({word[at] for word in lexicon}) for at in range(SIZE)]
        self.crossings = [[[(self.masks[row, letter], self.masks[column, letter]) for letter in letters[column]]
                           for column in range(SIZE)] for row in range(SIZE)]
        self.steps = 0

    def words(self, mask):
        while mask:
            low = mask & -mask
            yield self.lexicon[low.bit_length() - 1]
            mask ^= low

    def narrowed(self, columns, row, word):
        """Candidates of the columns after the word went into the row; None if one of them has none."""
        masks, after = self.masks, list(columns)
        for column, letter in enumerate(word):
            left = columns[column] & masks[row, letter]
            if not left:
                return None
            after[column] = left
        return after

    def allowed(self, columns, row):
        """Words whose letters fit what the columns still allow in that row."""
        mask = self.everything
        for candidates, crossing in zip(columns, self.crossings[row]):
            either = 0
            for down, across in crossing:
                if candidates & down:
                    either |= across
            mask &= either
            if not mask:
                break
        return mask

    def fill(self, rows, columns):
        if all(rows):
            return rows
        self.steps += 1
        if self.steps > BUDGET:
            return None
        choices = [(self.allowed(columns, row), row) for row, word in enumerate(rows) if not word]
        mask, row = min(choices, key=lambda choice: (choice[0].bit_count(), choice[1]))
        for word in self.words(mask):
            after = self.narrowed(columns, row, word)
            if after and word not in rows:
                done = self.fill([*rows[:row], word, *rows[row + 1:]], after)
                if done or self.steps > BUDGET:
                    return done
        return None


def value(rows):
    return sum((ord(letter) - 96) * at for at, letter in enumerate(itertools.chain(*rows), 1))


def work(puzzles):
    rng, found = random.Random(632), []
    for _ in range(puzzles):
        filler = Filler(lexicon(rng, 420))
        rows = filler.fill([None] * SIZE, [filler.everything] * SIZE)
        found.append([filler.steps, value(rows) if rows else 0])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=1200)
