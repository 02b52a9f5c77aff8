# SPDX-License-Identifier: Apache-2.0
"""A vegetable market: growers and cooks as coroutines of one loop, with queues of limited length between them."""

import asyncio
import collections
import random

import harness

KINDS = ("beans", "carrots", "kale", "leeks", "onions", "peas", "squash")


class Stall:
    """Sells by auction: the price falls while crates wait, and rises when there are few."""

    def __init__(self, kind):
        self.kind, self.price, self.sold = kind, 10.0, 0
        self.crates = asyncio.Queue(maxsize=12)

    async def offer(self, crate):
        await self.crates.put(crate)
        self.price *= 0.995

    async def buy(self):
        crate = await self.crates.get()
        self.price = min(30.0, self.price * 1.006)
        self.sold += 1
        return crate


async def grower(rng, stalls, crates):
    for number in range(crates):
        stall = min(rng.sample(stalls, len(stalls)), key=lambda one: (one.crates.qsize(), -one.price))
        await stall.offer((number, round(rng.gauss(8, 1.5), 2)))
        if rng.random() < 0.1:
            await asyncio.sleep(0)


async def cook(rng, stalls, kitchens, name):
    while True:
        stall = max(rng.sample(stalls, len(stalls)), key=lambda one: one.crates.qsize())
        price = stall.price
        _, weight = await stall.buy()
        kitchens[name][stall.kind] += weight
        kitchens[name]["paid"] += price
        if rng.random() < 0.2:
            await asyncio.sleep(0)


async def market(rng):
    stalls = [Stall(kind) for kind in KINDS]
    kitchens = [collections.defaultdict(float) for _ in range(12)]
    cooks = [asyncio.create_task(cook(random.Random(rng.random()), stalls, kitchens, name)) for name in range(len(kitchens))]
    growers = [grower(random.Random(rng.random()), stalls, 90) for _ in range(15)]
    await asyncio.gather(*growers)
    for _ in range(20):  # what is still on the stalls
        await asyncio.sleep(0)
    for task in cooks:
        task.cancel()
    await asyncio.gather(*cooks, return_exceptions=True)
    paid = [kitchen["paid"] for kitchen in kitchens]
    return [sum(stall.sold for stall in stalls), max(stall.price for stall in stalls), min(paid), max(paid)]


async def markets(days):
    rng = random.Random(118)
    return [await market(rng) for _ in range(days)]


def work(days):
    return asyncio.run(markets(days))


if __name__ == "__main__":
    harness.main(work, repeats=400)
