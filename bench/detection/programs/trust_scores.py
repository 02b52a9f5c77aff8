# SPDX-License-Identifier: Apache-2.0
"""Trust among the sellers of a market: scores are divided by their sum, which is added up again for each of them."""

import random

import harness

# sum(…) in the dictionary's comprehension does not depend on the seller it runs through: loop-invariant computation.
CATEGORY = "loop-invariant computation"
KIND = "load"
DAMPING = 0.85


class Market:
    """Who recommends whom; new sellers prefer those who are known already."""

    def __init__(self, source, sellers):
        self.random = source
        self.names = [f"seller-{source.randrange(16**6):06x}-{number}" for number in range(sellers)]
        self.recommends = {name: [] for name in self.names}
        known = self.names[:5]
        for name in self.names[5:]:
            for _ in range(source.randrange(1, 5)):
                other = source.choice(known)
                self.recommends[name].append(other)
                known.append(other)
            known.append(name)
            if source.random() < 0.3:
                self.recommends[source.choice(known)].append(name)
        self.recommends = {name: sorted(set(others) - {name}) for name, others in self.recommends.items()}

    def complaints(self):
        """Shares of orders that went wrong."""
        return {name: min(0.9, self.random.expovariate(25.0)) for name in self.names}


def normalised(scores):
    return {name: score / sum(scores.values()) for name, score in scores.items()}  # waste: load


def normalised_fixed(scores):
    total = sum(scores.values())
    return {name: score / total for name, score in scores.items()}


def spread(market, scores, wrong, normalise):
    """One round: sellers hand their trust to those they recommend, less what buyers complain about."""
    base = (1.0 - DAMPING) / len(scores)
    found = dict.fromkeys(scores, base)
    for name, others in market.recommends.items():
        if others:
            part = DAMPING * scores[name] / len(others)
            for other in others:
                found[other] += part
    return normalise({name: score * (1.0 - wrong[name]) for name, score in found.items()})


def settle(market, normalise, limit=1e-7):
    """Scores that no longer change, and the rounds that took."""
    wrong = market.complaints()
    scores, rounds = normalise(dict.fromkeys(market.names, 1.0)), 0
    while True:
        later, rounds = spread(market, scores, wrong, normalise), rounds + 1
        if max(abs(later[name] - score) for name, score in scores.items()) < limit:
            return later, rounds
        scores = later


def badges(scores):
    """Gold for those who hold a quarter of all trust together, silver up to one half."""
    held, gold, silver = 0.0, 0, 0
    for score in sorted(scores.values(), reverse=True):
        held += score
        gold += held <= 0.25
        silver += 0.25 < held <= 0.5
    return gold, silver


def work(markets, normalise):
    source = random.Random(1998)
    found = []
    for _ in range(markets):
        market = Market(source, source.randrange(250, 450))
        scores, rounds = settle(market, normalise)
        found.append([rounds, max(scores.values()), *badges(scores)])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, normalised), lambda n: work(n, normalised_fixed), repeats=1300)
