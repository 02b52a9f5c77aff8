# SPDX-License-Identifier: Apache-2.0
"""Support desk: messages wait in queues for agents, who are tasks of one event loop with its own clock."""

import asyncio
import heapq
import itertools
import random

import harness

TOPICS = ("billing", "delivery", "login", "returns")
AGENTS = 9
CLOSE = 8 * 3600


class Clock:
    """Simulated time: tasks sleep until all others wait as well, then the earliest goes on."""

    def __init__(self):
        self.now = 0.0
        self.sleepers = []
        self.numbers = itertools.count()

    async def sleep(self, seconds):
        future = asyncio.get_running_loop().create_future()
        heapq.heappush(self.sleepers, (self.now + seconds, next(self.numbers), future))
        await future

    async def run(self, until):
        while self.sleepers and self.sleepers[0][0] <= until:
            self.now, _, future = heapq.heappop(self.sleepers)
            if not future.done():
                future.set_result(None)
            for _ in range(2):  # a task wakes, hands on to another one, and that one goes to sleep
                await asyncio.sleep(0)


class Desk:
    def __init__(self, rng):
        self.rng, self.clock = rng, Clock()
        self.queues = {topic: asyncio.Queue() for topic in TOPICS}
        self.waits = {topic: [] for topic in TOPICS}
        self.solved, self.again = 0, 0

    async def customers(self, topic, rate):
        while True:
            await self.clock.sleep(self.rng.expovariate(rate))
            self.queues[topic].put_nowait((self.clock.now, self.rng.randrange(30, 900)))

    async def agent(self, topic):
        queue, waits = self.queues[topic], self.waits[topic]
        while True:
            came, length = await queue.get()
            waits.append(self.clock.now - came)
            await self.clock.sleep(20 + length / 3)
            if self.rng.random() < 0.12:
                self.again += 1
                queue.put_nowait((self.clock.now, length // 2))
            else:
                self.solved += 1

    def row(self):
        found = [self.solved, self.again]
        for topic in TOPICS:
            waits = sorted(self.waits[topic]) or [0.0]
            found += [len(waits), round(waits[len(waits) // 2], 3), round(waits[-1], 3), self.queues[topic].qsize()]
        return found


async def day(rng):
    desk = Desk(rng)
    tasks = []
    for topic in TOPICS:
        tasks.append(asyncio.create_task(desk.customers(topic, rng.uniform(0.04, 0.06))))
        tasks += [asyncio.create_task(desk.agent(topic)) for _ in range(AGENTS)]
    await asyncio.sleep(0)
    await desk.clock.run(CLOSE)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    return desk.row()


def work(days):
    rng = random.Random(630)
    return [asyncio.run(day(rng)) for _ in range(days)]


if __name__ == "__main__":
    harness.main(work, repeats=60)
