# SPDX-License-Identifier: Apache-2.0
"""Odds for tennis while it is played: the recursion over the score visits the same scores along every path."""

import random

import harness

# The number of paths to a score grows exponentially, the number of scores does not; a table of scores makes each one
# cost one step. The recursion as a whole is the wrong method: inefficient algorithm, seen as results written again.
CATEGORY = "inefficient algorithm"
KIND = "store"
GAMES = 6


def game(point):
    """The chance to win a game by the chance to win a point: four points, or two ahead after three all."""
    other = 1.0 - point
    even = point * point / (1.0 - 2.0 * point * other)
    return point**4 * (1.0 + 4.0 * other + 10.0 * other**2) + 20.0 * (point * other) ** 3 * even


def tie_break(serve, receive):
    """Whoever serves changes; about as good as their mean."""
    mean = 0.5 * (serve + receive)
    return game(mean)


class Match:
    """A player's chances: of games with the own service and with the other's."""

    def __init__(self, serve, receive):
        self.hold, self.broken = game(serve), game(receive)
        self.decider = tie_break(serve, receive)

    def set_odds(self, won, lost, serving):
        if won >= GAMES and won - lost >= 2:
            return 1.0
        if lost >= GAMES and lost - won >= 2:
            return 0.0
        if won == lost == GAMES:
            return self.decider
        chance = self.hold if serving else self.broken
        good = self.set_odds(won + 1, lost, not serving)  # waste: store
        return chance * good + (1.0 - chance) * self.set_odds(won, lost + 1, not serving)  # waste: store

    def odds(self, sets, games, serving):
        """Of the match, best of three: the current set first, then whole sets."""
        current, fresh = self.set_odds(*games, serving), 0.5 * (self.set_odds(0, 0, True) + self.set_odds(0, 0, False))
        won, lost = sets
        if (won, lost) == (1, 1):
            return current
        if won:
            return current + (1.0 - current) * fresh
        if lost:
            return current * fresh
        return current * (fresh + (1.0 - fresh) * fresh) + (1.0 - current) * fresh * fresh


class FixedMatch(Match):
    def __init__(self, serve, receive):
        super().__init__(serve, receive)
        self.known = {}

    def set_odds(self, won, lost, serving):
        score = won, lost, serving
        if score not in self.known:
            self.known[score] = super().set_odds(won, lost, serving)
        return self.known[score]


def rally(source, player, rival):
    """A set's course, game by game: (games, serving)."""
    won = lost = 0
    serving = source.random() < 0.5
    while max(won, lost) < GAMES or (abs(won - lost) < 2 and (won, lost) != (GAMES, GAMES)):
        yield (won, lost), serving
        taken = source.random() < (game(player) if serving else 1.0 - game(rival))
        won, lost, serving = won + taken, lost + (not taken), not serving


def stake(odds, offered):
    """Kelly's share of the purse at the bookmaker's price."""
    return max(0.0, (odds * offered - 1.0) / (offered - 1.0))


def work(matches, kind):
    source = random.Random(1877)
    found = []
    for _ in range(matches):
        player, rival = source.uniform(0.52, 0.72), source.uniform(0.52, 0.72)
        match, sets, total, steps = kind(player, 1.0 - rival), source.choice(((0, 0), (1, 0), (0, 1), (1, 1))), 0.0, 0
        for games, serving in rally(source, player, rival):
            odds = match.odds(sets, games, serving)
            total += stake(odds, 1.0 / min(0.97, max(0.03, odds + source.gauss(0.0, 0.05))))
            steps += 1
        found.append([steps, total, match.odds((0, 0), (0, 0), True)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, Match), lambda n: work(n, FixedMatch), repeats=840)
