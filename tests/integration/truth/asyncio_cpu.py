# SPDX-License-Identifier: Apache-2.0
"""Tasks with names, which run the same coroutine and burn known CPU time in steps that alternate, in two threads with a
loop each. Callbacks burn, too, and are no tasks; so do tasks of the class that is written in Python.

usage: asyncio_cpu.py [uvloop]
"""

import asyncio
import collections
import json
import threading
import time

import loops  # noqa: F401

STEP_S = 0.01
burned = collections.Counter()


def burn(name):
    begun = time.thread_time()
    x = 0
    while time.thread_time() - begun < STEP_S:
        for i in range(2000):
            x += i
    burned[name] += time.thread_time() - begun


async def step(name):
    burn(name)
    await asyncio.sleep(0)


async def work(name, steps):  # work
    for _ in range(steps):
        await step(name)


async def main(prefix):
    asyncio.current_task().set_name(prefix)
    asyncio.get_running_loop().call_soon(burn, "callback")
    own = asyncio.tasks._PyTask(work("python", 8), name=f"{prefix} python")
    await asyncio.gather(own, asyncio.create_task(work(f"{prefix} heavy", 30), name=f"{prefix} heavy"),
                         asyncio.create_task(work(f"{prefix} light", 10), name=f"{prefix} light"), work("unnamed", 8))


def run(prefix):
    asyncio.run(main(prefix))


thread = threading.Thread(target=run, args=["b"])
thread.start()
run("a")
thread.join()
print(json.dumps(burned))
