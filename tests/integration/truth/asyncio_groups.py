# SPDX-License-Identifier: Apache-2.0
"""Tasks that wait for others in several ways; the others sleep. usage: asyncio_groups.py SECONDS [uvloop]"""

import asyncio
import json
import sys

import loops  # noqa: F401

SECONDS = float(sys.argv[1])


async def leaf_of_gather():
    await asyncio.sleep(SECONDS)


async def gathers():
    await asyncio.gather(*(leaf_of_gather() for _ in range(60)))


async def leaf_of_group():
    await asyncio.sleep(SECONDS)


async def groups():
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(leaf_of_group())


async def leaf_of_wait():
    await asyncio.sleep(SECONDS)


async def waits():
    await asyncio.wait([asyncio.ensure_future(leaf_of_wait()) for _ in range(2)])


async def leaf_of_task():
    await asyncio.sleep(SECONDS)


async def awaits():
    await asyncio.create_task(leaf_of_task())


async def main():
    for way in (groups, waits, awaits):
        await asyncio.gather(way())
    await gathers()


asyncio.run(main())
print(json.dumps({"waited_s": SECONDS}))
