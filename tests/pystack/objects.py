# SPDX-License-Identifier: Apache-2.0
"""What lies at an address: objects of every kind, and memory that is none; the bytes of arrays; frames.

usage: objects.py [DIRECTORY_OF_NUMPY]
"""
import abc
import collections
import ctypes
import enum
import gc
import random
import sys
import threading
import types

import _walk
import tap

sys.path[:0] = sys.argv[1:]
try:
    import numpy
except ImportError:
    numpy = None

ADDRESSES_TRIED = 200000


def kind(thing):
    return _walk.object_kind(id(thing))


def check_all(things, expected):
    wrong = [(thing, kind(thing)) for thing in things if kind(thing) != expected]
    assert not wrong, wrong[:9]


class Plain:
    pass


class Slots:
    __slots__ = ("a", "b")


class Meta(type):
    pass


class MetaOfMeta(type):
    pass


class DerivedMeta(Meta, metaclass=MetaOfMeta):
    pass


class WithMeta(metaclass=Meta):
    pass


class WithDerivedMeta(metaclass=DerivedMeta):
    pass


class Abstract(abc.ABC):
    pass


class Color(enum.Enum):
    RED = 1


class Text(str):
    pass


PLAIN = [
    1, 10**40, 1.5, 1j, True, None, Ellipsis, NotImplemented, "text", "\u20ac", b"bytes", bytearray(b"x"), (), (1,),
    [], [1], {}, {1: 2}, set(), frozenset([1]), range(3), slice(1), object(), Plain(), Slots(), WithMeta(),
    WithDerivedMeta(), Abstract(), Color.RED, Text("x"), len, [].append, Plain.__init__, lambda: None, iter([]),
    (lambda: 1).__code__, sys, types.SimpleNamespace(), memoryview(b"x"), collections.OrderedDict(),
    collections.deque(), ValueError(), property(), staticmethod(len), super(Text, Text("x")), 7 << 70,
]
TYPES = [int, type, object, str, list, Plain, Slots, Meta, MetaOfMeta, DerivedMeta, WithMeta, WithDerivedMeta, Abstract,
         abc.ABCMeta, enum.EnumMeta, Color, Text, ValueError, types.FunctionType, types.CodeType, collections.OrderedDict]


def test_objects():
    check_all(PLAIN, _walk.PLAIN)


def test_types():
    check_all(TYPES, _walk.TYPE)


def test_every_object_that_is_collected():
    for thing in gc.get_objects():
        expected = _walk.TYPE if isinstance(thing, type) else _walk.PLAIN
        if numpy and isinstance(thing, numpy.ndarray):
            expected = _walk.ARRAY
        elif numpy and isinstance(thing, numpy.dtype):
            expected = _walk.DTYPE
        assert kind(thing) == expected, (type(thing), kind(thing))


def test_only_the_beginning_of_an_object_is_one():
    for thing in PLAIN + TYPES:
        for distance in (1, 2, 4, 7, -1):
            assert _walk.object_kind(id(thing) + distance) == _walk.NONE
    # The word before the items of a list is a pointer, and the items are pointers to objects.
    items = [object() for _ in range(1000)]
    array = (ctypes.c_void_p * 1000)(*map(id, items))
    at = ctypes.addressof(array)
    found = [_walk.object_kind(address) for address in range(at, at + 8 * 998, 8)]
    assert not any(found), found


def looks_immortal(address):
    """It has come to lie where an address is the same as an immortal object's count."""
    return abs(address - 999999999) <= 1 << 24 or address >> 31 == 1


def test_pointers_to_types_are_no_objects():
    for first, second in ((int, Plain), (Plain, int), (int, str), (Plain, Slots), (type, type)):
        if looks_immortal(id(first)) or looks_immortal(id(second)):
            continue
        array = (ctypes.c_void_p * 1000)(*[id(first), id(second)] * 500)
        at = ctypes.addressof(array)
        assert not any(_walk.object_kind(address) for address in range(at, at + 8 * 998, 8)), (first, second)


def test_objects_with_many_references():
    thing = object()
    holders = [thing] * (1 << 20)
    kinds = []
    for _ in range(16):
        holders.append(thing)
        kinds.append(kind(thing))
    assert kinds.count(_walk.PLAIN) >= 14, kinds  # a count that looks like an address is taken for one


def test_dead_objects():
    # Memory of an object that has gone: no crash, whatever the answer.
    addresses = [id(Plain()) for _ in range(1000)] + [id(bytearray(10**7)) for _ in range(3)]
    for address in addresses:
        _walk.object_kind(address)


def test_unreadable_addresses():
    page = _walk.forbidden_page(id(int))
    assert _walk.object_kind(page) == _walk.object_kind(page - 8) == _walk.NONE
    for address in (0, 8, 4096, page + 8, 1 << 46, 1 << 47, 1 << 63, (1 << 64) - 8, 0xdeadbeefdeadbee8):
        assert _walk.object_kind(address) == _walk.NONE, hex(address)
        assert _walk.array_data(address) is None, hex(address)
        assert not _walk.is_frame_memory(address)


def test_types_that_cannot_be_read():
    for type_address in (8, 4096, 1 << 63, _walk.forbidden_page(0), _walk.forbidden_page(0) - 8):
        fake = (ctypes.c_uint64 * 2)(1, type_address)
        assert _walk.object_kind(ctypes.addressof(fake)) == _walk.NONE


def test_random_memory():
    generator = random.Random(1)
    words = (ctypes.c_uint64 * 100000)(*[generator.getrandbits(64) for _ in range(100000)])
    at = ctypes.addressof(words)
    assert not any(_walk.object_kind(address) for address in range(at, at + 8 * 99998, 8))
    for _ in range(ADDRESSES_TRIED):
        _walk.object_kind(generator.getrandbits(48) & ~7)


def test_own_memory():
    # Everything that is mapped near objects, as a scan of the heap would meet it.
    hits = total = 0
    for thing in PLAIN + TYPES:
        for address in range((id(thing) & ~4095) or 4096, (id(thing) & ~4095) + 4096, 8):
            hits += _walk.object_kind(address) != _walk.NONE
            total += 1
    assert 0 < hits < total / 4, (hits, total)


def with_numpy(test):
    def run():
        if numpy is None:
            raise tap.Skip("NumPy is not installed")
        test()
    run.__name__ = test.__name__
    return run


@with_numpy
def test_numpy_objects():
    class Derived(numpy.ndarray):
        pass

    check_all([numpy.zeros(3), numpy.array(1.5), numpy.zeros((0, 3)), numpy.zeros((2, 3), order="F")[::-1],
               numpy.array(["a"]), numpy.array([None]), numpy.zeros(3, "i4,f8"), numpy.zeros(3).view(Derived),
               numpy.ma.zeros(3), numpy.rec.array([(1, 2)])], _walk.ARRAY)
    check_all([numpy.dtype("f8"), numpy.dtype("U3"), numpy.dtype("i4,f8"), numpy.dtype(object), numpy.dtype(">i2"),
               numpy.zeros(3, "M8[s]").dtype, numpy.dtype((numpy.int32, 3))], _walk.DTYPE)
    check_all([numpy.float64(1), numpy.int32(1), numpy.zeros(1, "i4,f8")[0], numpy.add, numpy.zeros(3).flat, numpy,
               numpy.nditer([1, 2]), numpy.random.default_rng()], _walk.PLAIN)
    check_all([numpy.ndarray, Derived, numpy.dtype, type(numpy.dtype("f8")), type(numpy.dtype), numpy.float64,
               numpy.ma.MaskedArray, numpy.ufunc], _walk.TYPE)


def arrays():
    base = numpy.arange(2 * 3 * 4 * 5, dtype="f8").reshape(2, 3, 4, 5)
    yield from (base, base.T, base[::-1], base[:, ::-2, 1:3], base[..., ::-1], base[0, 0, 0], base[1:1, :], base[0:1])
    yield from (base.reshape(-1)[::7], base.reshape(-1)[::-7], base[1, 2, 3, 4], numpy.asarray(base[1, 2, 3, 4]))
    yield from (numpy.array(5), numpy.array(5, "i1"), numpy.array("text"), numpy.zeros(0), numpy.zeros((3, 0, 5)))
    yield from (numpy.broadcast_to(numpy.arange(3.0), (4, 3)), numpy.zeros((1,) * 32), numpy.zeros(5, "U0"))
    yield from (numpy.zeros(3, "i4,f8"), numpy.zeros(3, "i4,f8")["f1"], numpy.zeros(3, "i1")[1:2], numpy.zeros(9, "V17"))
    yield from (numpy.zeros((3, 4), "c16").real, numpy.zeros((3, 4), "c16").imag[::-1, ::-1], numpy.array([None] * 3))
    yield from (numpy.frombuffer(b"0123456789", "u2", 4, 1), numpy.ma.zeros((3, 4))[:, ::2], numpy.zeros(1000000))
    yield from (numpy.lib.stride_tricks.as_strided(numpy.arange(9.0), (3, 3), (8, 8)),)


def extent(array):
    """[low, high) as the array's interface says, or None if there are no such bytes."""
    if not isinstance(array, numpy.ndarray):
        return None
    interface = array.__array_interface__
    size = array.dtype.itemsize
    if 0 in interface["shape"] or not size:
        return None
    strides = interface["strides"] or array.strides
    reach = [(length - 1) * stride for length, stride in zip(interface["shape"], strides)]
    start = interface["data"][0]
    return start + sum(r for r in reach if r < 0), start + sum(r for r in reach if r > 0) + size


@with_numpy
def test_data_of_arrays():
    checked = 0
    for array in arrays():
        if not isinstance(array, numpy.ndarray):
            continue
        assert kind(array) == _walk.ARRAY
        assert _walk.array_data(id(array)) == extent(array), (array.shape, array.strides, array.dtype)
        checked += extent(array) is not None
    assert checked > 25, checked


@with_numpy
def test_data_of_every_type():
    for character in numpy.typecodes["All"]:
        array = numpy.zeros((3, 2), character)[:, ::-1]
        assert _walk.array_data(id(array)) == extent(array), character


@with_numpy
def test_data_of_what_is_no_array():
    for thing in PLAIN + TYPES + [numpy.dtype("f8"), numpy.float64(1)]:
        _walk.array_data(id(thing))  # any answer, and no crash
    for address in range(id(Plain) & ~4095, (id(Plain) & ~4095) + 4096, 8):
        _walk.array_data(address)


def frames_that_hold(mark, depth):
    """Asks while `depth` frames hold the mark: (how many slots, all of them are frame memory)."""
    local = mark
    if depth:
        return frames_that_hold(local, depth - 1)
    slots = _walk.slots_of(mark)
    return len(slots), all(map(_walk.is_frame_memory, slots))


def test_frames():
    for depth in (0, 1, 10, 100, 900):
        slots, are_frames = frames_that_hold(object(), depth)
        assert slots > depth and are_frames, (depth, slots)


def test_what_is_no_frame():
    for thing in PLAIN + TYPES:
        assert not _walk.is_frame_memory(id(thing))
    assert not _walk.is_frame_memory(_walk.stack_address())

    def generator():
        yield
    running = generator()
    next(running)
    assert not _walk.is_frame_memory(id(running) + 64)  # a generator's frame lies in the generator


def test_frames_of_another_thread():
    mark, slots, results = object(), [], []
    ready, done = threading.Event(), threading.Event()

    def work():
        local = mark
        slots.extend(_walk.slots_of(local))
        results.append(all(map(_walk.is_frame_memory, slots)))
        ready.set()
        done.wait(10)
    thread = threading.Thread(target=work)
    thread.start()
    ready.wait(10)
    results.append(any(map(_walk.is_frame_memory, slots)))
    done.set()
    thread.join()
    assert slots and results == [True, False], (slots, results)


def cost_at(depth):
    return cost_at(depth - 1) if depth else _walk.frame_memory_cost(8)


def test_frame_memory_is_cheap():
    costs = {depth: cost_at(depth) for depth in (0, 50, 500)}
    tap.note("is_frame_memory, ns by depth of the stack: %s" % {d: round(ns, 1) for d, ns in costs.items()})
    assert costs[0] < 200, costs  # 20 on a quiet machine


def test_object_kind_is_cheap():
    things = {"int": 1, "instance": Plain(), "type": Plain, "class with a metaclass": WithMeta()}
    if numpy:
        things.update({"array": numpy.zeros(3), "masked array": numpy.ma.zeros(3), "dtype": numpy.dtype("f8")})
    costs = {name: _walk.object_kind_cost(id(thing)) for name, thing in things.items()}
    costs["no object"] = _walk.object_kind_cost(_walk.stack_address() & ~7)
    tap.note("object_kind, ns: %s" % {name: round(ns, 1) for name, ns in costs.items()})
    assert costs["int"] < 500, costs  # 30 on a quiet machine


tap.run_module(globals())
