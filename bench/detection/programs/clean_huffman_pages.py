# SPDX-License-Identifier: Apache-2.0
"""Pages of text packed with a code of their own each: a heap, dictionaries and strings of bits in plain Python."""

import collections
import heapq
import random

import harness

SYLLABLES = "ka ro ti ne su mo la pe vi do shi ba ter on en al is ur th qu ex ing".split()


def page(source, words):
    """Invented words with frequencies of their own on each page."""
    stock = ["".join(source.choices(SYLLABLES, k=source.randrange(1, 5))) for _ in range(180)]
    weights = [1.0 / (rank + source.randrange(1, 4)) for rank in range(len(stock))]
    chosen = source.choices(stock, weights, k=words)
    for number in range(0, words, 9):
        chosen[number] = chosen[number].capitalize() + source.choice(("", ",", ";"))
    return " ".join(chosen) + "."


def lengths(counts):
    """Bits of each symbol's code."""
    if len(counts) == 1:
        return dict.fromkeys(counts, 1)
    heap = [(count, number, (symbol,)) for number, (symbol, count) in enumerate(sorted(counts.items()))]
    heapq.heapify(heap)
    depths = dict.fromkeys(counts, 0)
    number = len(heap)
    while len(heap) > 1:
        count, _, symbols = heapq.heappop(heap)
        more, _, others = heap[0]
        joined = symbols + others
        for symbol in joined:
            depths[symbol] += 1
        heapq.heapreplace(heap, (count + more, number, joined))
        number += 1
    return depths


def codes(depths):
    """Canonical: they follow from the lengths alone."""
    found, code, last = {}, 0, 0
    for depth, symbol in sorted((depth, symbol) for symbol, depth in depths.items()):
        code <<= depth - last
        found[symbol] = f"{code:0{depth}b}"
        code, last = code + 1, depth
    return found


def pack(text):
    table = codes(lengths(collections.Counter(text)))
    bits = "".join(map(table.__getitem__, text))
    spare = -len(bits) % 8
    return table, spare, int(bits + "0" * spare, 2).to_bytes((len(bits) + spare) // 8, "big")


def unpack(table, spare, data):
    symbols = {bits: symbol for symbol, bits in table.items()}
    bits = f"{int.from_bytes(data, 'big'):0{8 * len(data)}b}"
    shortest = min(map(len, symbols))
    found, start, end = [], 0, shortest
    while end <= len(bits) - spare:
        symbol = symbols.get(bits[start:end])
        if symbol is None:
            end += 1
            continue
        found.append(symbol)
        start, end = end, end + shortest
    return "".join(found)


def work(pages):
    source = random.Random(1952)
    found = []
    for _ in range(pages):
        text = page(source, 320)
        table, spare, data = pack(text)
        if unpack(table, spare, data) != text:
            raise AssertionError("the page was not restored")
        found.append([len(text), len(data), len(table), max(map(len, table.values())), data[len(data) // 2]])
    return found


if __name__ == "__main__":
    harness.main(work, repeats=5500)
