# SPDX-License-Identifier: Apache-2.0
"""A build tool: each target comes after its inputs; to find the next one, all that are left are looked at."""

import hashlib
import heapq
import random

import harness

# Counts of open inputs tell at once which targets became ready: inefficient algorithm.
CATEGORY = "inefficient algorithm"
KIND = "load"
TARGETS, JOBS = 420, 6
KINDS = (("object", 0.6, 4), ("library", 2.2, 9), ("program", 3.5, 14), ("test", 1.2, 3))


class Target:
    __slots__ = ("number", "kind", "seconds", "inputs", "digest")

    def __init__(self, number, rng):
        self.number = number
        self.kind, seconds, most = rng.choices(KINDS, (60, 20, 8, 12))[0]
        self.seconds = round(seconds * rng.uniform(0.5, 2), 2)
        count = min(number, rng.randrange(0, most))
        near = range(max(0, number - 80), number)
        self.inputs = sorted(rng.sample(near, min(count, len(near))))
        self.digest = b""


def project(rng):
    """Numbers are shuffled, so that the order of the list says nothing."""
    targets = [Target(number, rng) for number in range(TARGETS)]
    names = list(range(TARGETS))
    rng.shuffle(names)
    for target in targets:
        target.inputs = [names[number] for number in target.inputs]
        target.number = names[target.number]
    return sorted(targets, key=lambda target: target.number)


def ordered(targets):
    done, order, left = set(), [], list(targets)
    while left:
        ready = [target for target in left if all(number in done for number in target.inputs)]  # waste: load
        first = ready[0]
        order.append(first)
        done.add(first.number)
        left.remove(first)
    return order


def ordered_fixed(targets):
    users = [[] for _ in targets]
    open_inputs = [len(target.inputs) for target in targets]
    for target in targets:
        for number in target.inputs:
            users[number].append(target.number)
    ready, order = [number for number, count in enumerate(open_inputs) if not count], []
    while ready:
        number = heapq.heappop(ready)
        order.append(targets[number])
        for user in users[number]:
            open_inputs[user] -= 1
            if not open_inputs[user]:
                heapq.heappush(ready, user)
    return order


def fingerprint(targets, order):
    """A target's digest covers its inputs, as a cache of builds needs it."""
    for target in order:
        digest = hashlib.sha256(f"{target.kind} {target.seconds}".encode())
        for number in target.inputs:
            digest.update(targets[number].digest)
        target.digest = digest.digest()
    return int.from_bytes(order[-1].digest[:3], "big")


def makespan(targets, order):
    """Seconds with some jobs at once, each of which takes the next target of the order."""
    ends, jobs = {}, [0.0] * JOBS
    for target in order:
        start = max([jobs[0], *(ends[number] for number in target.inputs)])
        ends[target.number] = start + target.seconds
        heapq.heapreplace(jobs, ends[target.number])
    return max(ends.values())


def critical(targets, order):
    """The longest chain of seconds, and how many targets would be built anew after a change of each."""
    longest, below = {}, {}
    for target in order:
        longest[target.number] = target.seconds + max((longest[number] for number in target.inputs), default=0.0)
        reach = 1 << target.number
        for number in target.inputs:
            reach |= below[number]
        below[target.number] = reach
    return max(longest.values()), max(mask.bit_count() for mask in below.values())


def work(projects, ordering):
    rng, rows = random.Random(642), []
    for _ in range(projects):
        targets = project(rng)
        order = ordering(targets)
        rows.append([fingerprint(targets, order), round(makespan(targets, order), 4), *critical(targets, order)])
    return rows


if __name__ == "__main__":
    harness.main(lambda n: work(n, ordered), lambda n: work(n, ordered_fixed), repeats=160)
