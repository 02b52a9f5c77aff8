# SPDX-License-Identifier: Apache-2.0
"""A FastAPI application with a coroutine and a function that runs in a thread."""

import asyncio

from descriptors import descriptors
from fastapi import FastAPI

app = FastAPI()


@app.get("/descriptors")
async def own_descriptors():
    return descriptors()


@app.get("/{number}")
async def squares(number: int):
    await asyncio.sleep(0.001)
    return {"sum": sum(i * i for i in range(number))}


@app.get("/thread/{number}")
def in_thread(number: int):
    return {"sum": sum(i * i for i in range(number))}
