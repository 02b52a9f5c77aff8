# SPDX-License-Identifier: Apache-2.0
"""A fleet of e-scooters: what changed of a scooter's state goes to the server. dataclasses.asdict copies all of it."""

import dataclasses
import json
import logging
import random

import harness

# asdict() copies recursively, containers and their values too, where the fields could be compared: API misuse. The
# message of the log, which nothing writes, is a second and smaller waste.
CATEGORY = "API misuse"
KIND = "store"
log = logging.getLogger("fleet")


@dataclasses.dataclass
class Battery:
    level: float = 100.0
    cycles: int = 0
    cells: list = dataclasses.field(default_factory=lambda: [3.7] * 10)


@dataclasses.dataclass
class Scooter:
    id: int
    lat: float
    lon: float
    speed: float = 0.0
    is_rented: bool = False
    rider: str | None = None
    errors: list = dataclasses.field(default_factory=list)
    battery: Battery = dataclasses.field(default_factory=Battery)


def move(rng, scooter):
    """The next ten seconds of a scooter; returns a new state."""
    state = dataclasses.replace(scooter, errors=list(scooter.errors))
    if rng.random() < 0.05:
        state.is_rented = not state.is_rented
        state.rider = f"r{rng.randrange(5000)}" if state.is_rented else None
    if state.is_rented:
        state.speed = rng.uniform(0.0, 20.0)
        state.lat += rng.gauss(0.0, 1e-4)
        state.lon += rng.gauss(0.0, 1e-4)
        level = state.battery.level - state.speed / 400.0
        cells = [max(3.0, volt - rng.random() / 500.0) for volt in state.battery.cells]
        state.battery = Battery(level, state.battery.cycles, cells) if level > 5.0 else Battery(cycles=state.battery.cycles + 1)
    else:
        state.speed = 0.0
    if rng.random() < 0.01:
        state.errors.append(rng.choice(("E1", "E7", "brake")))
        state.errors = state.errors[-4:]
    return state


def changes(old, new):
    before, after = dataclasses.asdict(old), dataclasses.asdict(new)  # waste: store
    log.debug("scooter %s: %s" % (new.id, after))
    return {name: value for name, value in after.items() if value != before[name]}


def changes_fixed(old, new):
    names = [field for field in Scooter.__dataclass_fields__ if getattr(old, field) != getattr(new, field)]
    found = {name: getattr(new, name) for name in names}
    if "battery" in found:
        found["battery"] = vars(new.battery)
    return found


def work(rounds, diff):
    rng = random.Random(12)
    fleet = [Scooter(i, 52.5 + rng.gauss(0, 0.02), 13.4 + rng.gauss(0, 0.03)) for i in range(300)]
    found = []
    for _ in range(rounds):
        sent = 0
        for i, old in enumerate(fleet):
            fleet[i] = move(rng, old)
            message = diff(old, fleet[i])
            if message:
                sent += len(json.dumps({"id": old.id, **message}))
        found.append(sent)
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, changes), lambda n: work(n, changes_fixed), repeats=450)
