# SPDX-License-Identifier: Apache-2.0
"""Executors by each start method, the default one (forkserver from 3.14 on), and of interpreters where there are such."""

import asyncio
import concurrent.futures
import multiprocessing
import os
import threading

METHODS = "fork", "spawn", "forkserver", None


def keep(barrier):
    work.barrier = barrier


def work(n):
    work.barrier.wait(60)  # one for each worker
    return sum(i * n % 7 for i in range(50_000))


def burn(n):
    return sum(i * n % 7 for i in range(50_000))


async def gathered(pool):
    loop = asyncio.get_running_loop()
    return await asyncio.gather(*(loop.run_in_executor(pool, work, n) for n in range(2)))


def broken(context):
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return type(pool.submit(os._exit, 7).exception()).__name__


if __name__ == "__main__":
    for method in METHODS:
        context = multiprocessing.get_context(method)
        barrier = context.Barrier(2)
        with concurrent.futures.ProcessPoolExecutor(2, context, keep, (barrier,)) as executor:
            print(method, list(executor.map(work, range(2))), asyncio.run(gathered(executor)), flush=True)
        print(broken(context), flush=True)
    if interpreters := getattr(concurrent.futures, "InterpreterPoolExecutor", None):
        with interpreters(2) as executor:
            print(list(executor.map(burn, range(6))), type(executor.submit(eval, "1 / 0").exception()).__name__)
    print(threading.active_count(), multiprocessing.active_children())
