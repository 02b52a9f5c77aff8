# SPDX-License-Identifier: Apache-2.0
"""A crawler walks through a web of pages; what it has seen is a list, and each link is searched for in it."""

import collections
import random

import harness

CATEGORY = "inefficient algorithm"
KIND = "load"
PAGES, LINKS = 3000, 6


def web(random_source):
    """{address: the addresses it links to}; most links stay near, as on a site."""
    links = {}
    for page in range(PAGES):
        near = [(page + random_source.randrange(-40, 41)) % PAGES for _ in range(LINKS - 1)]
        links[address(page)] = [address(target) for target in [*near, random_source.randrange(PAGES)]]
    return links


def address(page):
    return f"https://www.example.org/archive/{page % 37}/{page}"


def crawl(links, start):
    seen, waiting = [start], collections.deque([(start, 0)])
    reached = collections.Counter()
    while waiting:
        page, depth = waiting.popleft()
        reached[depth] += 1
        for target in links[page]:
            if target not in seen:  # waste: load
                seen.append(target)
                waiting.append((target, depth + 1))
    return [len(seen), max(reached), max(reached.values())]


def crawl_fixed(links, start):
    seen, waiting = {start}, collections.deque([(start, 0)])
    reached = collections.Counter()
    while waiting:
        page, depth = waiting.popleft()
        reached[depth] += 1
        for target in links[page]:
            if target not in seen:
                seen.add(target)
                waiting.append((target, depth + 1))
    return [len(seen), max(reached), max(reached.values())]


def work(repeats, walk):
    random_source = random.Random(114)
    links = web(random_source)
    return [walk(links, address(random_source.randrange(PAGES))) for _ in range(repeats)]


if __name__ == "__main__":
    harness.main(lambda n: work(n, crawl), lambda n: work(n, crawl_fixed), repeats=80)
