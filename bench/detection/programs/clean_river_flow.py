# SPDX-License-Identifier: Apache-2.0
"""Where rivers run: hollows of a landscape are filled from its rim inwards, and the rain runs down to the rim."""

import heapq

import numpy as np

import harness

SIZE = 90
NEAR = [-SIZE - 1, -SIZE, -SIZE + 1, -1, 1, SIZE - 1, SIZE, SIZE + 1]
EAST, NORTH = np.meshgrid(np.arange(SIZE), np.arange(SIZE))


def landscape(rng):
    """Waves of all lengths in all directions."""
    heights = np.zeros((SIZE, SIZE))
    for k in range(1, 25):
        east, north = rng.normal(scale=0.02 * k, size=2)
        heights += rng.normal() / k * np.sin(east * EAST + north * NORTH + rng.uniform(0.0, 6.28))
    return heights + rng.normal(scale=0.02, size=heights.shape)


def rim():
    cells = np.arange(SIZE * SIZE).reshape(SIZE, SIZE)
    return np.concatenate([cells[0], cells[-1], cells[1:-1, 0], cells[1:-1, -1]]).tolist()


def drained(heights, edge):
    """The order in which the cells are reached from the rim, and the cell each of them drains into."""
    level = heights.ravel().tolist()
    into = [-1] * len(level)
    is_open = bytearray(b"\1" * len(level))
    for cell in edge:
        is_open[cell] = 0
    queue = [(level[cell], cell) for cell in edge]
    heapq.heapify(queue)
    order = []
    while queue:
        height, cell = heapq.heappop(queue)
        order.append(cell)
        for step in NEAR:
            other = cell + step
            if 0 <= other < len(level) and is_open[other]:
                is_open[other] = 0
                into[other] = cell
                heapq.heappush(queue, (max(height, level[other]), other))
    return order, into


def flows(order, into):
    rain = [1] * len(into)
    for cell in reversed(order):
        if into[cell] >= 0:
            rain[into[cell]] += rain[cell]
    return rain


def work(repeats):
    rng = np.random.default_rng(1869)
    edge = rim()
    found = []
    for _ in range(repeats):
        order, into = drained(landscape(rng), edge)
        rain = flows(order, into)
        found.append([max(rain), sum(flow > 50 for flow in rain), order[-1]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=320)
