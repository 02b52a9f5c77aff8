# SPDX-License-Identifier: Apache-2.0
"""Looking for retention paths: what it costs, what it leaves behind, and when another thread asks for it."""
import _retention
import errno
import gc
import os
import random
import subprocess
import sys
import threading

import tap
from holding import BUDGET_NS, TEXT_BYTES, ask, blocks_of, found


class Item:
    pass


def items(n=40):
    return [Item() for _ in range(n)]


class Service:
    def __init__(self, names=()):
        self.names = list(names)


cache = []


# --- what it leaves behind ---


def test_nothing_is_left_behind():
    cache[:] = items()
    things = [cache, cache[0], Service, sys.modules, None, Item]
    blocks = blocks_of(cache)
    find, budget, size = _retention.find, BUDGET_NS, TEXT_BYTES
    find(blocks, budget, size)
    gc.collect()
    counts, objects = [sys.getrefcount(thing) for thing in things], len(gc.get_objects())
    collections_before = [stats["collections"] for stats in gc.get_stats()]
    for _ in range(200):
        find(blocks, budget, size)
    assert [stats["collections"] for stats in gc.get_stats()] == collections_before
    assert [sys.getrefcount(thing) for thing in things] == counts
    assert abs(len(gc.get_objects()) - objects) < 10


def test_no_dict_is_made():
    cache[:] = [Service() for _ in range(5)]
    sizes = [sys.getsizeof(service) for service in cache]
    blocks = [_retention.block_of(service.names) for service in cache]
    values = [_retention.values_of(service) for service in cache]
    found(blocks)
    assert [sys.getsizeof(service) for service in cache] == sizes
    assert [_retention.values_of(service) for service in cache] == values


# --- whatever there is ---


def test_any_object():
    """No answer is known here; all have one."""
    generator, n = random.Random(1), 0
    for _ in range(100):
        blocks = blocks_of(generator.sample(gc.get_objects(), 5))
        code, text, _ = ask(blocks)
        assert code == 0 and text, (code, text)
        n += text.endswith("…")
    tap.note("%d of 100 were left open" % n)


def test_random_addresses():
    for seed in range(20):
        low = min(id(thing) for thing in gc.get_objects())
        ask([_retention.disguise(low + 16 * random.Random(seed).randrange(1 << 16)) for _ in range(64)])


# --- time ---


def test_budget():
    cache[:] = [[n] for n in range(2000000)]
    holder = Service([cache])
    blocks = [_retention.block_of(row) for row in cache[::50000]]
    code, text, spent_ns = ask(blocks)
    tap.note("%s: %.0f ms, %d objects" % (text, spent_ns / 1e6, len(gc.get_objects())))
    assert (code, text) == (0, "list in list `cache` of module __main__")
    for budget_ns in 0, 1000000, 10000000:
        code, text, spent_ns = ask(blocks, budget_ns)
        tap.note("%.0f ms: %d %s after %.1f ms" % (budget_ns / 1e6, code, text, spent_ns / 1e6))
        assert code == -errno.ETIME and spent_ns < budget_ns + 20000000, (code, spent_ns)
        assert text == "" or text.endswith(", …") or text == "list in list `cache` of module __main__", text
    cache.clear()
    del holder


def test_million_instances():
    cache[:] = [Service() for _ in range(300000)]
    blocks = [_retention.block_of(service.names) for service in cache[::5000]]
    code, text, spent_ns = ask(blocks)
    tap.note("%s: %.0f ms, %d objects" % (text, spent_ns / 1e6, len(gc.get_objects())))
    assert text == "list `names` of __main__.Service object in list `cache` of module __main__", text
    cache.clear()


# --- from another thread ---


def spin():
    for _ in range(1000):
        pass


def test_asked_by_another_thread():
    cache[:] = items()
    assert _retention.answer() is None
    assert _retention.ask(7, blocks_of(cache))
    spin()
    answer = _retention.answer()
    assert answer == (7, "__main__.Item in list `cache` of module __main__"), answer
    assert _retention.answer() is None
    for _ in range(3):
        assert _retention.ask(8, [_retention.disguise(64)])
        spin()
        assert _retention.answer() == (8, "")


def test_one_question_at_a_time():
    cache[:] = items()
    assert _retention.ask(1, blocks_of(cache))
    assert not _retention.ask(2, blocks_of(cache))
    spin()
    assert not _retention.ask(3, blocks_of(cache))
    assert _retention.answer()[0] == 1


def test_question_amid_a_collection():
    results = []

    class Dying:
        def __del__(self):
            results.append(_retention.ask(5, blocks_of(cache)))
            spin()
            results.append(_retention.answer())
            spin()

    cache[:] = items()
    dying = Dying()
    dying.itself = dying
    del dying
    gc.collect()
    assert results == [True, None], results
    while not (answer := _retention.answer()):
        spin()
    assert answer == (5, "__main__.Item in list `cache` of module __main__"), answer


def test_full_queue():
    """While a thread that does not run pending calls fills it."""
    blocks, results = blocks_of(cache), []
    thread = threading.Thread(target=lambda: results.append((_retention.fill_queue(), _retention.ask(1, blocks))))
    thread.start()
    thread.join()
    (filled, taken), = results
    assert filled < 100000 and taken in (True, False), results
    while taken and not _retention.answer():
        spin()
    spin()
    assert _retention.ask(2, blocks)
    spin()
    assert _retention.answer()[0] == 2


def test_forked_child():
    cache[:] = items()
    blocks = blocks_of(cache)
    assert _retention.ask(1, blocks) in (True, False)
    spin()
    pid = os.fork()
    if pid == 0:
        _retention.fork_child()
        good = _retention.answer() is None and _retention.ask(2, blocks)
        spin()
        good = good and _retention.answer() == (2, "__main__.Item in list `cache` of module __main__")
        os._exit(0 if good else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert _retention.answer()[0] == 1


AT_THE_END = """
import _retention
rows = [[n] for n in range(9)]
_retention.report_at_exit()
blocks = [_retention.block_of(row) for row in rows]
(lambda: _retention.ask(7, blocks))()"""


def test_at_the_end():
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True)
    expected = "at the end: 7 list in list `rows` of module __main__\nasked: 0\n"
    assert (done.stdout, done.returncode) == (expected, 0), done


if __name__ == "__main__":
    tap.run_module(globals())
