# SPDX-License-Identifier: Apache-2.0
"""The event loops of a program whose last argument is "uvloop" are uvloop's."""

import asyncio
import sys

if sys.argv[-1] == "uvloop":
    import uvloop

    asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())
