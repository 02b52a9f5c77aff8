#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Four threads that do different things: hash, count, compress, wait; about 10 s.

usage: threads.py [SCALE]        (SCALE 0.1 takes a tenth of the time)

What a profile should show, thread by thread: `hasher` and `packer` are native time (libcrypto and
zlib, which work with the interpreter's lock released), `counter` is Python time, and `reader` is
waiting and hardly any CPU time. The main thread feeds the reader and otherwise sleeps.
"""
import hashlib
import queue
import random
import sys
import threading
import time
import zlib

SEED = 20260
BLOCK = 1 << 20


def hash_blocks(block, count, results):
    digest = hashlib.sha256()
    for _ in range(count):
        digest.update(block)
    results["hasher"] = digest.hexdigest()[:16]


def count_primes(limit, results):
    """Trial division, on purpose."""
    primes = []
    for number in range(2, limit):
        for prime in primes:
            if prime * prime > number:
                primes.append(number)
                break
            if number % prime == 0:
                break
        else:
            primes.append(number)
    results["counter"] = len(primes)


def pack_blocks(block, count, results):
    packed = 0
    for _ in range(count):
        packed += len(zlib.compress(block, 6))
    results["packer"] = f"{packed / (count * BLOCK):.2f}"


def read_messages(messages, results):
    total = 0
    while (message := messages.get()) is not None:
        total += message
    results["reader"] = total


def main():
    scale = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    rng = random.Random(SEED)
    noise = rng.randbytes(BLOCK)
    words = bytes(rng.choices(b"abcdefgh ", k=BLOCK))
    messages = queue.Queue()
    results = {}
    jobs = {
        "hasher": (hash_blocks, (noise, int(6000 * scale) + 1, results)),
        "counter": (count_primes, (int(3_600_000 * scale) + 10, results)),
        "packer": (pack_blocks, (words, int(45 * scale) + 1, results)),
        "reader": (read_messages, (messages, results)),
    }
    threads = [threading.Thread(target=work, args=args, name=name) for name, (work, args) in jobs.items()]
    for thread in threads:
        thread.start()
    for number in range(int(90 * scale) + 1):
        messages.put(number)
        time.sleep(0.1)
    messages.put(None)
    for thread in threads:
        thread.join()
    for name in jobs:
        print(f"{name}: {results[name]}")


if __name__ == "__main__":
    main()
