# SPDX-License-Identifier: Apache-2.0
"""The retention path of a block of memory: the whole text of the answers, for referrers of every kind.

usage: retention.py [DIRECTORY_OF_NUMPY]
"""
import _retention
import array
import collections
import ctypes
import functools
import gc
import io
import sys
import types

import tap
from holding import BUDGET_NS, POINTER, TEXT_BYTES, ask, blocks_of, check, found

sys.path[:0] = sys.argv[1:]
try:
    import numpy
except ImportError:
    numpy = None

LIST_ITEMS = 3 * POINTER  # offset of a list's pointer to its items


class Item:
    pass


class Slots:
    __slots__ = ("first", "second", "__weakref__")


def items(n=40):
    return [Item() for _ in range(n)]


# --- modules ---

cache = []
texts = {}
numbers = {}
seen = set()
queue = collections.deque()
pairs = []
nested = []
buffers = []
handles = []


def test_list_of_a_module():
    cache[:] = items()
    check(blocks_of(cache), "__main__.Item in list `cache` of module __main__")
    check([_retention.block_of(cache)], "list `cache` of module __main__")
    check([_retention.word_of(cache, LIST_ITEMS)], "memory of list `cache` of module __main__")


def test_one_of_a_module():
    cache[:] = items(1)
    check(blocks_of(cache), "__main__.Item in list `cache` of module __main__")


def test_another_module():
    module = types.ModuleType("app")
    exec("rows = []", module.__dict__)
    sys.modules["app"] = module
    module.rows.extend({"n": [n]} for n in range(9))
    check(blocks_of(module.rows), "dict in list `rows` of module app")
    check([_retention.keys_of(row) for row in module.rows], "memory of dict in list `rows` of module app")
    check(blocks_of(row["n"] for row in module.rows), "list in dict in list `rows` of module app")
    del sys.modules["app"]
    blocks = blocks_of(module.rows)
    check(blocks, "dict in list `rows` of module app")


def test_values_and_keys_of_a_dict():
    texts.clear()
    texts.update({n: "value %d" % n for n in range(1000, 1100)})
    assert gc.is_tracked(texts) == (sys.version_info >= (3, 14)), "from 3.14 on every dict is tracked"
    check(blocks_of(texts.values()), "str in dict `texts` of module __main__")
    check(blocks_of(texts), "int in dict `texts` of module __main__")
    check([_retention.block_of(texts)], "dict `texts` of module __main__")
    check([_retention.keys_of(texts)], "memory of dict `texts` of module __main__")


def test_untracked_in_untracked():
    numbers["a"] = tuple(b"%d" % n for n in range(50))
    gc.collect()
    assert not gc.is_tracked(numbers["a"])
    check(blocks_of(numbers["a"]), "bytes in tuple in dict `numbers` of module __main__")
    numbers["b"] = {"c": (1.5, 2.5)}
    gc.collect()
    check(blocks_of(numbers["b"]["c"]), "float in tuple in dict `numbers` of module __main__")
    numbers.clear()


def test_tuples():
    pairs[:] = [(n, str(n)) for n in range(1000, 1040)]
    check(blocks_of(pairs), "tuple in list `pairs` of module __main__")
    check(blocks_of(pair[1] for pair in pairs), "str in tuple in list `pairs` of module __main__")
    gc.collect()
    assert not gc.is_tracked(pairs[0])
    check(blocks_of(pairs), "tuple in list `pairs` of module __main__")
    check(blocks_of(pair[1] for pair in pairs), "str in tuple in list `pairs` of module __main__")


def test_set():
    seen.update("text %d" % n for n in range(200))
    check(blocks_of(seen), "str in set `seen` of module __main__")
    check([_retention.word_of(seen, 5 * POINTER)], "memory of set `seen` of module __main__")


def test_deque():
    queue.extend(items(1000))
    check(blocks_of(list(queue)[100:160]), "__main__.Item in collections.deque `queue` of module __main__")
    for n in 0, 5, 15:
        check([_retention.deque_block(queue, n)], "memory of collections.deque `queue` of module __main__")
    queue.clear()


def test_lists_in_lists():
    nested[:] = [[[Item()] for _ in range(5)] for _ in range(5)]
    check(blocks_of(thing for row in nested for cell in row for thing in cell),
          "__main__.Item in list `nested` of module __main__")  # fmt: skip


def test_module_that_is_not_imported_any_more():
    module = types.ModuleType("gone")
    module.rows = items()
    cache[:] = [module]
    blocks = blocks_of(module.rows)
    del module
    check(blocks, "__main__.Item in list `rows` of module gone")
    cache.clear()


# --- classes and instances ---


class Service:
    registry = {}
    limit = [0]

    def __init__(self, names=()):
        self.names = list(names)


def test_class_attribute():
    Service.registry.update((n, Item()) for n in range(30))
    check(blocks_of(Service.registry.values()), "__main__.Item in dict `registry` of class __main__.Service")
    Service.registry.clear()


def test_inner_class():
    class Inner:
        rows = items()

    check(blocks_of(Inner.rows),
          "__main__.Item in list `rows` of class __main__.test_inner_class.<locals>.Inner")  # fmt: skip


def test_instance_attribute():
    cache[:] = [Service(items(5)) for _ in range(5)]
    blocks = [_retention.block_of(item) for service in cache for item in service.names]
    check(blocks, "__main__.Item in list `names` of __main__.Service object in list `cache` of module __main__")
    blocks = [_retention.block_of(service.names) for service in cache]
    check(blocks, "list `names` of __main__.Service object in list `cache` of module __main__")
    check(blocks_of(cache), "__main__.Service in list `cache` of module __main__")


def test_instance_with_a_dict():
    cache[:] = [Service(items(5)) for _ in range(5)]
    dicts = [vars(service) for service in cache]
    blocks = [_retention.block_of(item) for service in cache for item in service.names]
    del dicts
    check(blocks, "__main__.Item in list `names` of __main__.Service object in list `cache` of module __main__")
    blocks = [_retention.block_of(vars(service)) for service in cache]
    check(blocks, "dict of __main__.Service object in list `cache` of module __main__")


def test_memory_of_attributes():
    cache[:] = [Service() for _ in range(5)]
    blocks = [_retention.values_of(service) for service in cache]
    if None in blocks:
        raise tap.Skip("attributes are kept in the object itself")
    check(blocks, "memory of __main__.Service in list `cache` of module __main__")


def test_slots():
    cache[:] = [Slots() for _ in range(5)]
    for slots in cache:
        slots.second = Item()
    blocks = [_retention.block_of(slots.second) for slots in cache]
    del slots
    check(blocks, "__main__.Item `second` of __main__.Slots object in list `cache` of module __main__")


def test_subclass_of_list():
    class Rows(list):
        pass

    Service.rows = Rows(items())
    check(blocks_of(Service.rows),
          "__main__.Item in __main__.test_subclass_of_list.<locals>.Rows `rows` of class __main__.Service")
    check([_retention.word_of(Service.rows, LIST_ITEMS)],
          "memory of __main__.test_subclass_of_list.<locals>.Rows `rows` of class __main__.Service")  # fmt: skip
    del Service.rows


def test_chain():
    """Longer than anyone wants to read."""
    head = None
    for _ in range(8):
        head = Service([head])
    cache[:] = [head]
    while head.names[0]:
        head = head.names[0]
    blocks = [_retention.block_of(head.names)]
    del head
    check(blocks, "list `names` of __main__.Service object in list `cache` of module __main__")
    cache.clear()


# --- functions ---


def make():
    rows = []

    def add(row):
        rows.append(row)

    return add


adders = []


def test_closure():
    adders[:] = [make()]
    for _ in range(40):
        adders[0](Item())
    blocks = blocks_of(adders[0].__closure__[0].cell_contents)
    check(blocks, "__main__.Item in list `rows`, closure variable of __main__.make.<locals>.add")


def collect(row, rows=[], *, others={}):
    rows.append(row)
    others[len(others)] = Item()


def test_default_arguments():
    for _ in range(40):
        collect(Item())
    check(blocks_of(collect.__defaults__[0]), "__main__.Item in list `rows`, default argument of __main__.collect")
    check(blocks_of(collect.__kwdefaults__["others"].values()),
          "__main__.Item in dict `others`, default argument of __main__.collect")  # fmt: skip


def test_attribute_of_a_function():
    collect.calls = items()
    check(blocks_of(collect.calls), "__main__.Item in list `calls` of function __main__.collect")


@functools.lru_cache(maxsize=None)
def load(n):
    return [n]


@functools.lru_cache(maxsize=1000)
def load_some(n):
    return "%d" % n


def test_lru_cache():
    check([_retention.block_of(load(n)) for n in range(40)], "list in lru_cache of __main__.load")
    check([_retention.block_of(load_some(n)) for n in range(40)], "str in lru_cache of __main__.load_some")


def test_bound_method_and_partial():
    cache[:] = [Service(items(1)).__init__ for _ in range(5)]
    blocks = [_retention.block_of(method.__self__) for method in cache]
    check(blocks, "__main__.Service in method in list `cache` of module __main__")
    cache[:] = [functools.partial(print, Item()) for _ in range(5)]
    blocks = [_retention.block_of(partial.args[0]) for partial in cache]
    check(blocks, "__main__.Item in tuple `args` of functools.partial object in list `cache` of module __main__")


def test_globals_without_a_module():
    space = {"__name__": "space"}
    exec("rows = []\ndef use(): return rows", space)
    space["rows"].extend(items())
    _retention.hold(space["use"])
    blocks = blocks_of(space["rows"])
    del space
    check(blocks, "__main__.Item in list `rows`, global of space.use")
    _retention.hold(None)


# --- memory that is no object ---


def test_bytearray_and_array():
    buffers[:] = [bytearray(5000)]
    check([_retention.word_of(buffers[0], 4 * POINTER)], "memory of bytearray in list `buffers` of module __main__")
    buffers[:] = [array.array("d", [0.5] * 1000)]
    check([_retention.word_of(buffers[0], 3 * POINTER)], "memory of array.array in list `buffers` of module __main__")
    buffers.clear()


def test_bytes_io():
    buffers[:] = [io.BytesIO()]
    buffers[0].write(b"text" * 1000)
    # From 3.12 on it reports its bytes.
    what = "bytes in" if sys.version_info >= (3, 12) else "memory of"
    check([_retention.word_of(buffers[0], 2 * POINTER)], what + " _io.BytesIO in list `buffers` of module __main__")
    buffers.clear()


def test_handles():
    handles[:] = [_retention.Handle() for _ in range(9)]
    check([_retention.word_of(handle, 2 * POINTER) for handle in handles],
          "memory of _retention.Handle in list `handles` of module __main__")  # fmt: skip
    check(blocks_of(handles), "_retention.Handle in list `handles` of module __main__")
    handles.clear()


libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.free.argtypes = [ctypes.c_void_p]


def test_memory_known_to_ctypes():
    handles[:] = [ctypes.c_void_p(libc.malloc(1000)) for _ in range(5)]
    blocks = [_retention.disguise(handle.value) for handle in handles]
    check(blocks, "memory of ctypes.c_void_p in list `handles` of module __main__")
    for handle in handles:
        libc.free(handle)
    del handle
    handles.clear()


def test_address_as_a_number():
    handles[:] = [libc.malloc(1000) for _ in range(5)]
    blocks = [_retention.disguise(handle) for handle in handles]
    check(blocks, "memory whose address is an int in list `handles` of module __main__")
    for handle in handles:
        libc.free(handle)
    handles.clear()


def need_numpy():
    if not numpy:
        raise tap.Skip("no numpy")


def test_array_data():
    need_numpy()
    buffers[:] = [numpy.ones(1000) for _ in range(5)]
    check([_retention.word_of(buffer, 2 * POINTER) for buffer in buffers],
          "memory of numpy.ndarray in list `buffers` of module __main__")  # fmt: skip
    check(blocks_of(buffers), "numpy.ndarray in list `buffers` of module __main__")
    buffers.clear()


def test_view_of_an_array():
    need_numpy()
    base = numpy.ones(1000)
    blocks = [_retention.word_of(base, 2 * POINTER)]
    buffers[:] = [base[10:20]]
    del base
    check(blocks, "memory of numpy.ndarray in numpy.ndarray in list `buffers` of module __main__")
    buffers.clear()


def test_array_of_objects():
    need_numpy()
    buffers[:] = [numpy.array(["text %d" % n for n in range(40)], dtype=object)]
    check(blocks_of(buffers[0]), "str in numpy.ndarray in list `buffers` of module __main__")
    buffers[:] = [numpy.array(items(), dtype=object)]
    check(blocks_of(buffers[0]), "__main__.Item in numpy.ndarray in list `buffers` of module __main__")
    buffers.clear()


# --- names ---


def test_names():
    space = types.ModuleType("module ä\n")
    space.__dict__["größe"] = items()
    cache[:] = [space]
    blocks = blocks_of(space.__dict__["größe"])
    del space
    check(blocks, "__main__.Item in list `größe` of module module ä?")
    for size in range(1, 60):
        code, text, _ = ask(blocks, BUDGET_NS, size)
        assert code == 0 and len(text.encode()) < size and found(blocks).startswith(text), text
    cache.clear()


class Meddling:
    """Whatever is asked of it, it minds."""

    def mind(self, *args):
        raise AssertionError("called")

    __getattr__ = __getattribute__ = __eq__ = __repr__ = __str__ = __iter__ = __len__ = __bool__ = mind
    __hash__ = object.__hash__
    __class__ = property(mind)
    __dict__ = property(mind)


def test_no_python_runs():
    cache[:] = [Meddling() for _ in range(9)]
    object.__setattr__(cache[0], "rows", items())
    blocks = [_retention.block_of(thing) for thing in cache]
    events = []
    sys.setprofile(lambda frame, event, arg: events.append((event, arg)))
    try:
        _retention.find(blocks, BUDGET_NS, TEXT_BYTES)
    finally:
        sys.setprofile(None)
    assert [event for event, arg in events if event == "call"] == [], events
    check(blocks, "__main__.Meddling in list `cache` of module __main__")
    blocks = blocks_of(object.__getattribute__(cache[0], "rows"))
    check(blocks, "__main__.Item in list `rows` of __main__.Meddling object in list `cache` of module __main__")
    cache.clear()


if __name__ == "__main__":
    tap.run_module(globals())
