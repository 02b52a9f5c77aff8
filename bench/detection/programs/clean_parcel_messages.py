# SPDX-License-Identifier: Apache-2.0
"""Parcels travel between offices as pickled messages: each office unpickles what came, stamps it and pickles it anew.

No message is like another one, and each is another one after the stamp. It runs for 60 seconds.
"""

import collections
import dataclasses
import pickle
import random

import harness

OFFICES, UNDERWAY = 50, 2000


@dataclasses.dataclass
class Parcel:
    number: int
    grams: int
    target: int
    insured: dict
    stamps: list


def posted(rng, number):
    things = {f"thing {rng.randrange(10**6)}": rng.uniform(1.0, 500.0) for _ in range(rng.randrange(1, 12))}
    return Parcel(number, rng.randrange(50, 30_000), rng.randrange(OFFICES), things, [])


def write(parcel):
    return pickle.dumps(parcel, protocol=pickle.HIGHEST_PROTOCOL)


def handle(rng, message, office, hour):
    """(the next office, message), or None when the parcel is where it should be; and the parcel."""
    parcel = pickle.loads(message)
    parcel.stamps.append((office, hour))
    if office == parcel.target or len(parcel.stamps) > 30:
        return None, parcel
    following = parcel.target if rng.random() < 0.2 else rng.randrange(OFFICES)
    return (following, write(parcel)), parcel


def work(repeats):
    rng = random.Random(506)
    numbers = iter(range(1 << 40))
    queue = collections.deque((rng.randrange(OFFICES), write(posted(rng, next(numbers)))) for _ in range(UNDERWAY))
    found = []
    for hour in range(repeats):
        arrived, ways, worth = 0, 0, 0.0
        for _ in range(1000):
            office, message = queue.popleft()
            onward, parcel = handle(rng, message, office, hour)
            if onward is None:
                arrived += 1
                ways += len(parcel.stamps)
                worth += sum(parcel.insured.values())
                onward = rng.randrange(OFFICES), write(posted(rng, next(numbers)))
            queue.append(onward)
        found.append([arrived, ways, worth])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=7000)
