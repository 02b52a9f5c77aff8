# SPDX-License-Identifier: Apache-2.0
"""Tasks that sleep and burn CPU time, and what share of the loop's waiting each kind has by its own account: at each
moment in which nothing burns, all tasks that sleep share the time, without what the loop waited for a processor. Lines
are found by their marks.

usage: asyncio_tasks.py kinds|threads|callbacks SECONDS [uvloop]
"""

import asyncio
import collections
import sys
import threading
import time

import loops  # noqa: F401
from measure import tell


def waited_s():
    """A clock that stands while this thread is ready to run and has no processor."""
    with open("/proc/thread-self/schedstat", encoding="ascii") as file:
        return time.perf_counter() - int(file.read().split()[1]) / 1e9


class Account:
    """Who sleeps, who burns; of one event loop."""

    def __init__(self):
        self.asleep = collections.Counter()
        self.burned = collections.Counter()
        self.waited = collections.Counter()
        self.last = waited_s()

    def turn(self, is_burning=False):
        now = waited_s()
        count = self.asleep.total()
        for mark, tasks in self.asleep.items():
            if count and not is_burning:
                self.waited[mark] += (now - self.last) * tasks / count
        self.last = now

    def begin(self, mark):
        self.turn()
        self.asleep[mark] += 1

    def end(self, mark):
        self.turn()
        self.asleep[mark] -= 1


def burn(account, mark, seconds):
    account.turn()
    begun = time.thread_time()
    x = 0
    while time.thread_time() - begun < seconds:
        for i in range(2000):
            x += i
    account.burned[mark] += time.thread_time() - begun
    account.turn(is_burning=True)


async def sleep_within(seconds):
    await asyncio.sleep(seconds)  # within


async def brief(account, until):
    while time.perf_counter() < until:
        account.begin("brief")
        await asyncio.sleep(0.06)  # brief
        account.end("brief")
        burn(account, "brief", 0.003)  # burn-brief


async def nested(account, until):
    while time.perf_counter() < until:
        account.begin("within")
        await sleep_within(0.15)
        account.end("within")
        await burn_within(account)


async def burn_within(account):
    burn(account, "nested", 0.015)  # burn-nested


async def items(account, until):
    while time.perf_counter() < until:
        account.begin("items")
        await asyncio.sleep(0.1)  # items
        account.end("items")
        yield time.perf_counter()


async def consumer(account, until):
    async for _ in items(account, until):
        burn(account, "consumer", 0.01)  # burn-consumer


async def waiter(account, until):
    await asyncio.create_task(consumer(account, until))


async def main(account, seconds):
    until = time.perf_counter() + seconds
    await asyncio.gather(brief(account, until), brief(account, until), nested(account, until), waiter(account, until))


def kinds(seconds):
    account = Account()
    asyncio.run(main(account, seconds))
    tell(waited=account.waited, burned=account.burned)


async def sleep_in_main(seconds):
    await asyncio.sleep(seconds)  # in-main


async def sleep_in_thread(seconds):
    await asyncio.sleep(seconds)  # in-thread


def threads(seconds):
    """Two loops: what one waits is not for the other's tasks."""
    thread = threading.Thread(target=lambda: asyncio.run(sleep_in_thread(seconds)))
    thread.start()
    asyncio.run(sleep_in_main(seconds))
    thread.join()
    tell(waited={"in-main": seconds, "in-thread": seconds})


def callbacks(seconds):
    """A loop without tasks."""
    loop = asyncio.new_event_loop()
    loop.call_later(seconds, loop.stop)
    loop.run_forever()  # no-tasks
    loop.close()
    tell(waited={"no-tasks": seconds})


{"kinds": kinds, "threads": threads, "callbacks": callbacks}[sys.argv[1]](float(sys.argv[2]))
