# SPDX-License-Identifier: Apache-2.0
"""Canal locks: a simulation of boats and locks writes a debug message for each event, which nobody reads."""

import heapq
import json
import logging
import random

import harness

# The state is written out before the logger throws the message away: API misuse.
CATEGORY = "API misuse"
KIND = "load"
LOCKS = 8
log = logging.getLogger("canal")


class Lock:
    """A chamber that is full or empty, with queues on both of its sides."""

    def __init__(self, number, rng):
        self.number = number
        self.minutes = rng.uniform(6, 11)
        self.capacity = rng.choice((2, 3, 4))
        self.level = "low"
        self.queues = {"up": [], "down": []}
        self.busy_until = 0.0
        self.water = 0

    def state(self):
        return {"lock": self.number, "level": self.level, "busy_until": round(self.busy_until, 2), "water": self.water,
                "up": [boat["name"] for boat in self.queues["up"]],
                "down": [boat["name"] for boat in self.queues["down"]]}

    def next_side(self):
        """Boats at the side where the water is go first."""
        first, second = ("up", "down") if self.level == "low" else ("down", "up")
        return first if self.queues[first] else second

    def pass_boats(self, now):
        side = self.next_side()
        boats = self.queues[side][:self.capacity]
        del self.queues[side][:self.capacity]
        start_level = "low" if side == "up" else "high"
        turns = 1 if self.level == start_level else 2
        self.level = "high" if side == "up" else "low"
        self.water += turns
        self.busy_until = now + turns * self.minutes + sum(boat["length"] for boat in boats) / 60
        return boats


def tell(event, now, lock, boats):
    names = [boat["name"] for boat in boats]
    log.debug("%.1f %s %s %s", now, event, names, json.dumps(lock.state(), indent=2))  # waste: load


def tell_fixed(event, now, lock, boats):
    if log.isEnabledFor(logging.DEBUG):
        names = [boat["name"] for boat in boats]
        log.debug("%.1f %s %s %s", now, event, names, json.dumps(lock.state(), indent=2))


class Canal:
    def __init__(self, rng, telling):
        self.rng, self.telling = rng, telling
        self.locks = [Lock(number, rng) for number in range(LOCKS)]
        self.events, self.numbers = [], 0
        self.passed, self.waited = 0, 0.0

    def at(self, time, kind, number, boat=None):
        self.numbers += 1
        heapq.heappush(self.events, (time, self.numbers, kind, number, boat))

    def arrive(self, now, number, boat):
        if not 0 <= number < LOCKS:
            self.passed += 1
            self.waited += now - boat["since"]
            return
        lock = self.locks[number]
        lock.queues[boat["way"]].append(boat)
        self.telling("arrives", now, lock, [boat])
        if now >= lock.busy_until:
            self.open(now, number)

    def open(self, now, number):
        lock = self.locks[number]
        if now < lock.busy_until or not (lock.queues["up"] or lock.queues["down"]):
            return
        boats = lock.pass_boats(now)
        self.telling("passes", now, lock, boats)
        self.at(lock.busy_until, "open", number)
        for boat in boats:
            step = 1 if boat["way"] == "up" else -1
            self.at(lock.busy_until + self.rng.uniform(10, 25), "arrive", number + step, boat)

    def run(self, boats):
        for number in range(boats):
            way = self.rng.choice(("up", "down"))
            boat = {"name": f"boat {number}", "way": way, "length": self.rng.randrange(6, 40), "since": number * 4.2}
            self.at(boat["since"], "arrive", 0 if way == "up" else LOCKS - 1, boat)
        while self.events:
            now, _, kind, number, boat = heapq.heappop(self.events)
            self.arrive(now, number, boat) if kind == "arrive" else self.open(now, number)
        return [self.passed, round(self.waited, 4), *(lock.water for lock in self.locks)]


def work(seasons, telling):
    rng = random.Random(638)
    return [Canal(rng, telling).run(400) for _ in range(seasons)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, tell), lambda n: work(n, tell_fixed), repeats=80)
