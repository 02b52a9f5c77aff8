# SPDX-License-Identifier: Apache-2.0
"""Tasks with names, which sleep for known times. usage: asyncio_names.py few|many|kinds"""

import asyncio
import json
import sys
import time

HOSTILE = "</script><b>\x1b[31m\u202e'\x00" + "é" * 60
ended = {}


async def nap(seconds, name):
    await asyncio.sleep(seconds)  # asyncio.sleep
    ended[name] = time.perf_counter()


async def few():
    begun = time.perf_counter()
    await asyncio.gather(asyncio.create_task(nap(1.2, "long"), name="long"), nap(0.6, "none"),
                         asyncio.create_task(nap(0.6, HOSTILE), name=HOSTILE))
    return {name: at - begun for name, at in ended.items()}


async def many():
    """The loop wakes often, and is looked at anew each time."""
    begun = time.perf_counter()
    await asyncio.gather(*(asyncio.create_task(nap(0.2 + n / 400, f"task {n}"), name=f"task {n}") for n in range(400)))
    return {"all": time.perf_counter() - begun}


class Own(asyncio.Task):
    """A task of a type of its own."""


async def kinds():
    """Names that are set later, that are no str of their own type, and tasks of another type."""
    begun = time.perf_counter()
    later = asyncio.create_task(nap(0.6, "later"))
    later.set_name("set later")
    number = asyncio.create_task(nap(0.6, "number"), name=7)
    own = Own(nap(0.6, "own"), name="Task-of mine")
    await asyncio.gather(later, number, own)
    return {"all": time.perf_counter() - begun}


print(json.dumps(asyncio.run({"few": few, "many": many, "kinds": kinds}[sys.argv[1]]())))
