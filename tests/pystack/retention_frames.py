# SPDX-License-Identifier: Apache-2.0
"""Who holds a block of memory: frames, garbage, native code and nothing."""
import _retention
import asyncio
import contextlib
import ctypes
import errno
import gc
import sys
import threading
import weakref

import tap
from holding import ask, blocks_of, check


class Item:
    pass


def items(n=40):
    return [Item() for _ in range(n)]


cache = []
texts = {}
nested = []


# --- frames ---


def test_local():
    rows = items()
    check(blocks_of(rows), "__main__.Item in list `rows`, local of __main__.test_local")


def test_local_of_a_caller():
    def callee(blocks):
        check(blocks, "__main__.Item in list `rows`, local of __main__.test_local_of_a_caller")

    rows = items()
    callee(blocks_of(rows))


def test_local_in_a_cell():
    def use():
        return rows

    rows = items()
    check(blocks_of(rows), "__main__.Item in list `rows`, closure variable of "
          "__main__.test_local_in_a_cell.<locals>.use")  # fmt: skip
    del use
    check(blocks_of(rows), "__main__.Item in list `rows`, local of __main__.test_local_in_a_cell")


def test_untracked_local():
    rows = {n: str(n) for n in range(1000, 1040)}
    check(blocks_of(rows.values()), "str in dict `rows`, local of __main__.test_untracked_local")


def test_local_that_is_not_the_path():
    cache[:] = items()
    rows = cache
    item = rows[0]
    check(blocks_of(rows), "__main__.Item in list `cache` of module __main__")
    check([_retention.block_of(item)], "__main__.Item in list `cache` of module __main__")


def test_local_of_a_class_body():
    class Body:
        rows = items()
        check(blocks_of(rows),
              "__main__.Item in list `rows`, local of __main__.test_local_of_a_class_body.<locals>.Body")  # fmt: skip


def test_temporary():
    def blocks(rows):
        return blocks_of(rows)

    # From 3.15 on a loop over a list makes no iterator.
    held = "list" if sys.version_info >= (3, 15) else "list in list_iterator"
    for check_it in [lambda row, blocks: check(blocks, f"__main__.Item in {held}, "
                                               "a temporary value of __main__.test_temporary")]:  # fmt: skip
        pass
    made = []

    def rows():
        made[:] = blocks(result := items())
        return result

    for row in rows():
        del row
        check_it(None, made)
        break


def generate():
    rows = items()
    yield rows
    yield None


generators = []


def test_generator():
    generators[:] = [generate()]
    blocks = blocks_of(next(generators[0]))
    check(blocks, "__main__.Item in list `rows`, local of generator __main__.generate "
          "in list `generators` of module __main__")  # fmt: skip


def test_running_generator():
    def run():
        rows = items()
        yield check(blocks_of(rows),
                    "__main__.Item in list `rows`, local of __main__.test_running_generator.<locals>.run")  # fmt: skip

    list(run())


async def wait(event, blocks):
    rows = items()
    blocks.extend(blocks_of(rows))
    await event


def test_coroutine():
    async def main():
        event, blocks = asyncio.Event(), []
        task = asyncio.ensure_future(wait(event.wait(), blocks))
        await asyncio.sleep(0)
        code, text, _ = ask(blocks)
        assert text.startswith("__main__.Item in list `rows`, local of coroutine __main__.wait"), text
        event.set()
        await task

    asyncio.run(main())


def raise_it():
    rows = items()
    raise ValueError(blocks_of(rows))


def test_frame_of_a_traceback():
    try:
        raise_it()
    except ValueError as error:
        cache[:] = [error]
    blocks = cache[0].args[0]
    check(blocks, "__main__.Item in list `rows`, local of frame __main__.raise_it in traceback in ValueError "
          "in list `cache` of module __main__")  # fmt: skip
    cache.clear()


def test_thread():
    ready, done, blocks = threading.Event(), threading.Event(), []

    def work():
        rows = items()
        blocks.extend(blocks_of(rows))
        ready.set()
        done.wait()

    thread = threading.Thread(target=work)
    thread.start()
    ready.wait()
    try:
        check(blocks, "__main__.Item in list `rows`, local of __main__.test_thread.<locals>.work")
    finally:
        done.set()
        thread.join()


local = threading.local()


def test_thread_local():
    local.rows = items()
    blocks = blocks_of(local.rows)
    check(blocks, "__main__.Item in list in dict in _thread._local `local` of module __main__")
    del local.rows


# --- cycles, native code, nothing ---


@contextlib.contextmanager
def without_collector():
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def make_cycles(n=20):
    blocks = []
    for _ in range(n):
        item = Item()
        item.other = {"back": [item]}
        blocks.append(_retention.block_of(item))
    return blocks


def test_cycles_without_collector():
    with without_collector():
        check(make_cycles(), "__main__.Item in a reference cycle of __main__.Item, list and dict, not freed: "
              "the garbage collector is disabled")  # fmt: skip


class Risen:
    risen = []

    def __del__(self):
        Risen.risen.append(self)


def test_resurrected():
    blocks = []
    for _ in range(9):
        risen = Risen()
        risen.itself = risen
        blocks.append(_retention.block_of(risen))
    del risen
    gc.collect()
    check(blocks, "__main__.Risen in list `risen` of class __main__.Risen")
    Risen.risen.clear()


def test_native_referrer():
    thing = [Item()]
    _retention.hold(thing)
    blocks = blocks_of(thing)
    del thing
    check(blocks, "__main__.Item in list, held by native code (1 reference)")
    _retention.hold(None)


def test_weak_references_hold_nothing():
    with without_collector():
        item = Item()
        item.other = item
        cache[:] = [weakref.ref(item)]
        texts["x"] = weakref.WeakValueDictionary(x=item)
        blocks = [_retention.block_of(item)]
        del item
        check(blocks, "__main__.Item in a reference cycle of __main__.Item, not freed: "
              "the garbage collector is disabled")  # fmt: skip
    cache.clear()
    texts.clear()


def test_nothing():
    libc = ctypes.CDLL(None)
    libc.malloc.restype = ctypes.c_void_p
    libc.free.argtypes = [ctypes.c_void_p]
    block = libc.malloc(1000)
    blocks = [_retention.disguise(block)]
    libc.free(block)
    del block
    assert ask(blocks)[:2] == (-errno.ENOENT, "")
    assert ask([])[:2] == (-errno.ENOENT, "")
    assert ask([_retention.disguise(0), _retention.disguise(1)])[:2] == (-errno.ENOENT, "")


def test_frozen_objects():
    cache[:] = items()
    gc.freeze()
    try:
        check(blocks_of(cache), "__main__.Item in list `cache` of module __main__")
    finally:
        gc.unfreeze()


def test_most_blocks_decide():
    cache[:] = items(10)
    nested[:] = items(40)
    check(blocks_of(cache + nested), "__main__.Item in list `nested` of module __main__")
    nested.clear()


def test_while_collecting():
    results = []

    class Dying:
        def __del__(self):
            results.append(ask(blocks_of(cache)))

    cache[:] = items()
    dying = Dying()
    dying.itself = dying
    del dying
    gc.collect()
    assert results[0][:2] == (-errno.EAGAIN, ""), results


if __name__ == "__main__":
    tap.run_module(globals())
