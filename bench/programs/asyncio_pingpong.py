# SPDX-License-Identifier: Apache-2.0
"""Coroutines that hand messages to each other through queues and futures."""

import asyncio

from harness import run


async def player(receives, sends, count):
    for _ in range(count):
        await sends.put(await receives.get() + 1)


async def game(count):
    here, there = asyncio.Queue(), asyncio.Queue()
    await here.put(0)
    await asyncio.gather(player(here, there, count), player(there, here, count))
    return await here.get()


async def games(count):
    return sum(await asyncio.gather(*(game(count) for _ in range(20))))


run(lambda repeats: asyncio.run(games(repeats)), 36_000)
