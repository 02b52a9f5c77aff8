# SPDX-License-Identifier: Apache-2.0
"""A grain exchange: bids and offers wait in two heaps and are matched as they come; every order is another one."""

import dataclasses
import heapq
import itertools
import random

import harness


@dataclasses.dataclass(slots=True)
class Order:
    number: int
    sign: int  # 1: a bid, -1: an offer
    price: int  # cents a tonne
    tonnes: int


class Book:
    """The best price first, then the oldest order. A cancelled order stays in its heap and is skipped later."""

    def __init__(self):
        self.heaps = {1: [], -1: []}
        self.waiting = {}

    def best(self, sign):
        heap = self.heaps[sign]
        while heap:
            order = self.waiting.get(heap[0][1])
            if order is not None:
                return order
            heapq.heappop(heap)
        return None

    def place(self, order):
        """Matches what can be matched; yields price and tonnes of each deal."""
        while order.tonnes:
            other = self.best(-order.sign)
            if other is None or order.sign * (order.price - other.price) < 0:
                self.waiting[order.number] = order
                heapq.heappush(self.heaps[order.sign], (-order.sign * order.price, order.number))
                return
            traded = min(order.tonnes, other.tonnes)
            order.tonnes -= traded
            other.tonnes -= traded
            if not other.tonnes:
                del self.waiting[other.number]
            yield other.price, traded

    def cancel(self, number):
        self.waiting.pop(number, None)


def orders(rng, numbers, count):
    """Around a price that wanders."""
    price = 22_000.0
    for number in itertools.islice(numbers, count):
        price += rng.gauss(0.0, 8.0)
        sign = 1 if rng.random() < 0.5 else -1
        yield Order(number, sign, round(price - sign * rng.expovariate(1 / 60) + 20 * sign), rng.randrange(1, 200))


def day(rng, book, numbers, count=5_000):
    money = tonnes = 0
    for order in orders(rng, numbers, count):
        for price, traded in book.place(order):
            money += price * traded
            tonnes += traded
        if rng.random() < 0.3:
            book.cancel(order.number - rng.randrange(200))
    return tonnes, money / max(tonnes, 1), len(book.waiting)


def work(repeats):
    rng = random.Random(1848)
    book, numbers = Book(), itertools.count()
    return [day(rng, book, numbers) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(work, repeats=1_000)
