# SPDX-License-Identifier: Apache-2.0
"""Which pages of a scanned archive are there twice? Each pair of pages is compared by hashes made on the spot."""

import hashlib
import random
import zlib
from concurrent.futures import ThreadPoolExecutor

import harness

# Each page is hashed once for every page that it is compared with: repeated native calls.
CATEGORY = "repeated native calls"
KIND = "load"


def page(rng):
    """Lines of black and white, as a fax machine has them."""
    text, black = bytearray(), False
    while len(text) < 24_000:
        text += (b"\xff" if black else b"\x00") * rng.randrange(20, 700)
        black = not black
    return bytes(text[:24_000])


def folder(rng, n):
    pages = [page(rng) for _ in range(n)]
    for _ in range(n // 8):
        pages[rng.randrange(n)] = bytes(pages[rng.randrange(n)])
    return pages


def same_page(a, b):
    return hashlib.sha256(a).digest() == hashlib.sha256(b).digest()  # waste: load


def duplicates(pages):
    found = []
    for i in range(len(pages)):
        for j in range(i + 1, len(pages)):
            if same_page(pages[i], pages[j]):
                found.append((i, j))
    return found


def duplicates_fixed(pages):
    hashes = [hashlib.sha256(p).digest() for p in pages]
    return [(i, j) for i in range(len(pages)) for j in range(i + 1, len(pages)) if hashes[i] == hashes[j]]


def keep(pages, pairs):
    """Packs the pages that stay."""
    gone = {j for _, j in pairs}
    return sum(len(zlib.compress(p, 9)) for i, p in enumerate(pages) if i not in gone)


def clean_folder(seed, find):
    pages = folder(random.Random(seed), 40)
    pairs = find(pages)
    return len(pairs), sum(i * j for i, j in pairs), keep(pages, pairs)


def work(folders, find):
    with ThreadPoolExecutor(max_workers=3) as pool:
        return list(pool.map(lambda seed: clean_folder(seed, find), range(folders)))


if __name__ == "__main__":
    harness.main(lambda n: work(n, duplicates), lambda n: work(n, duplicates_fixed), repeats=180)
