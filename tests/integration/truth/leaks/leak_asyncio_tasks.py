# SPDX-License-Identifier: Apache-2.0
"""Tasks that wait for something that does not happen."""
# HOLDER: session|Task

import asyncio

from pace import rounds


async def session(closed):
    buffer = bytearray(50_000)  # LEAK
    await closed.wait()
    return buffer


async def main():
    closed = asyncio.Event()
    for number in rounds():
        for _ in range(5):
            asyncio.create_task(session(closed))._log_destroy_pending = False
        await asyncio.sleep(0)


# asyncio.run() would cancel the tasks at the end.
asyncio.new_event_loop().run_until_complete(main())
