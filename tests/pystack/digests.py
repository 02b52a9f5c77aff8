# SPDX-License-Identifier: Apache-2.0
"""Digests of values: equal ones have the same, others another; hostile objects break nothing.

usage: digests.py [DIRECTORY_OF_NUMPY]
"""
import array
import ctypes
import datetime
import decimal
import operator
import pickle
import random
import re
import sys

import _walk
import tap

sys.path[:0] = sys.argv[1:]
try:
    import numpy
except ImportError:
    numpy = None

OPAQUE, SAMPLED = 1, 2
ADDRESSES_TRIED = 20000


def content(value):
    return _walk.digest(id(value))[0]


def state(value):
    return _walk.digest(id(value))[1]


def traits(value):
    return _walk.digest(id(value))[2]


def again(value):
    """An equal object of its own."""
    if isinstance(value, (set, frozenset)):
        return type(value)(again(item) for item in reversed(list(value)))
    if isinstance(value, (decimal.Decimal, array.array, datetime.datetime)):
        return pickle.loads(pickle.dumps(value))
    if isinstance(value, memoryview):
        return memoryview(bytes(value))
    if isinstance(value, (tuple, list)):
        return type(value)(again(item) for item in value)
    if isinstance(value, dict):
        return {again(key): again(item) for key, item in value.items()}
    if isinstance(value, str):
        return value[:1] + value[1:] if len(value) > 1 else value
    if isinstance(value, (int, float, bytes)) and not isinstance(value, bool):
        return type(value)(repr(value), *()) if not isinstance(value, bytes) else bytes(bytearray(value))
    return value


PLAIN = [0, 1, -1, 2**29, 2**30, -2**30, 2**31, 2**60, 2**64, -2**64, 3**900, 0.0, 1.0, -0.0, 1.5, True, False, None,
         1j, 2 + 1j, "", "a", "b", "ab", "ba", "\u00e9", "\u0101", "\U0001f600", "x" * 100, "x" * 101, b"", b"a", b"ab",
         b"x" * 99, (), (1,), (1, 2), (2, 1), ((1,), 2), [], [1], [1, 2], [[1], 2], {}, {1: 2}, {2: 1}, {"a": 1},
         {"a": 2}, {"b": 1}, slice(1, 2), slice(1, 3), bytearray(b"a"), bytearray(b"b"), int, str,
         datetime.date(2024, 1, 2), datetime.date(2024, 1, 3), datetime.datetime(2024, 1, 2),
         datetime.datetime(2024, 1, 2, 0, 0, 0, 1), datetime.timedelta(1), datetime.timedelta(0, 1),
         datetime.time(1), datetime.time(2), set(), {1}, {2}, {1, 2}, {"a", 1.5}, frozenset([1]), frozenset([1, 2]),
         decimal.Decimal("1.5"), decimal.Decimal("-1.5"), decimal.Decimal("1.50"), decimal.Decimal("15"), decimal.Decimal("inf"),
         decimal.Decimal("nan"), decimal.Decimal("1" * 60), decimal.Decimal("1" * 59 + "2"), array.array("i", [1]),
         array.array("i", [2]), array.array("f", [1]), array.array("d", []), memoryview(b"ab"), memoryview(b"ac"),
         datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc), datetime.timezone(datetime.timedelta(hours=1)),
         datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
         datetime.time(1, tzinfo=datetime.timezone.utc)]


def test_other_values_have_other_digests():
    digests = [content(value) for value in PLAIN]
    assert len(set(digests)) == len(PLAIN), [PLAIN[i] for i, d in enumerate(digests) if digests.count(d) > 1]


def test_equal_values_have_the_same():
    for value in PLAIN:
        other = again(value)
        assert content(value) == content(other), value
        if isinstance(value, (int, float, str, bytes, tuple, list, dict, set, frozenset, decimal.Decimal, array.array, memoryview,
                              datetime.datetime)):
            assert state(value) == state(other) and traits(value) == 0, value


def test_dates_do_not_differ_by_the_hash_they_keep():
    one, other = datetime.datetime(2024, 1, 2), datetime.datetime(2024, 1, 2)
    hash(one)
    assert content(one) == content(other)


def test_text_of_a_kibibyte_is_read_in_full():
    for at in range(1024):
        one, other = bytearray(b"x" * 1024), bytearray(b"x" * 1024)
        other[at] = 1
        assert content(bytes(one)) != content(bytes(other)), at
        assert traits(bytes(one)) == 0


def test_longer_text_is_sampled():
    """The limit that docs/limits.md states: a difference in the middle of a long text may not be seen."""
    one, other = "x" * 100000, "x" * 49996 + "y" + "x" * 50003
    assert traits(one) == SAMPLED
    assert content(one) == content(other)
    assert content("x" * 100000) != content("x" * 100001)
    assert content("x" * 99999 + "y") != content(one) and content("y" + "x" * 99999) != content(one)


def test_long_lists_are_sampled():
    items = list(range(1000, 2000))
    before = _walk.digest(id(items))
    assert before[2] == SAMPLED
    items.append(3)
    assert content(items) != before[0]
    items.pop()
    assert _walk.digest(id(items)) == before
    items[0] = 77777
    assert content(items) != before[0]
    long = [object() for _ in range(17)]
    before = _walk.digest(id(long))
    long[8], long[9] = long[9], long[8]
    assert _walk.digest(id(long)) != before


def test_dicts():
    small = {i: i for i in range(8)}
    assert traits(small) == 0
    assert traits({i: i for i in range(9)}) == SAMPLED
    mixed = {"a": 1, 2: "b"}
    assert content(mixed) == content({"a": 1, 2: "b"}) != content({"a": 1, 2: "c"})
    del small[3]
    assert content(small) == content({i: i for i in range(8) if i != 3})


def test_sets():
    """In whatever order their tables have the keys, and whatever was deleted."""
    one, other = set(), set(range(100))
    for key in (8, 16, 0):
        one.add(key)
    other -= set(range(100)) - {0, 8, 16}
    assert content(one) == content(other) != content({0, 8, 24})
    assert traits(set(range(16))) == 0 and traits(set(range(17))) == SAMPLED == traits(set(range(5000)))
    words = [f"word {i}" for i in range(100)]
    one, other = set(words), set(reversed(words))
    assert _walk.digest(id(one)) == _walk.digest(id(other))
    other.discard("word 50")
    other.add("word 100")
    assert content(one) != content(other)
    thing = object()
    assert traits({thing}) == OPAQUE and state({thing}) == state({thing}) != state({object()})


def test_views_with_gaps_have_no_value():
    assert traits(memoryview(b"abcd")[::2]) == OPAQUE


def test_depth_has_an_end():
    nest = []
    for _ in range(100):
        nest = [nest]
    assert traits(nest) & OPAQUE
    nest.append(nest)
    assert _walk.digest(id(nest))
    tree = [[[[list(range(16))] * 16] * 16] * 16] * 16
    assert traits(tree) & SAMPLED


class Int(int):
    pass


class Str(str):
    pass


class Dict(dict):
    pass


class List(list):
    pass


class Plain:
    def __eq__(self, other):
        raise AssertionError("code of the program is called")

    __hash__ = __getattribute__ = __repr__ = __eq__


def test_subclasses_and_instances_have_no_value():
    for make in (lambda: Int(3), lambda: Str("a"), lambda: Dict(a=1), lambda: List([1]), Plain, object,
                 lambda: iter([]), lambda: (i for i in ())):
        one, other = make(), make()
        assert traits(one) == OPAQUE, type(one)
        assert content(one) == content(other)
        assert state(one) != state(other)


def test_state_that_changes():
    generator = random.Random(1)
    before = _walk.digest(id(generator))
    generator.random()
    after = _walk.digest(id(generator))
    assert before[0] == after[0] and before[1] != after[1]


def test_what_never_changes():
    """Another object may be equal all the same."""
    for make in (lambda x: re.compile(x + "+"), lambda x: re.match(x, x), lambda x: operator.itemgetter(x),
                 lambda x: operator.attrgetter(x), lambda x: range(ord(x))):
        one, other = make("a"), make("b")
        assert traits(one) == 0 and content(one) == content(other) and state(one) != state(other), one


def test_what_is_no_object():
    for address in (0, 1, 8, 4095, 4096, 2**47, 2**64 - 8, 2**63):
        assert _walk.digest(address) is None, address
    memory = ctypes.create_string_buffer(4096)
    for byte in (0, 1, 255):
        ctypes.memset(memory, byte, 4096)
        assert _walk.digest(ctypes.addressof(memory)) is None


def test_half_built_tuples():
    new = ctypes.pythonapi.PyTuple_New
    new.restype, new.argtypes = ctypes.c_void_p, [ctypes.c_ssize_t]
    address = new(3)
    assert _walk.digest(address) is None


def test_damaged_copies_of_objects():
    """Words of copies of objects are replaced by others: whatever is read, nothing breaks."""
    chance = random.Random(7)
    for value in ["text" * 9, b"bytes" * 9, 3**200, (1, "a", 2.5), [1, 2, 3], {"a": 1}, {1: "b"}, slice(1, 2),
                  datetime.datetime(2024, 1, 2), bytearray(9), {1, "a"}, decimal.Decimal("1.5"), array.array("d", [1.5]),
                  memoryview(b"bytes"), datetime.datetime(2024, 1, 2, tzinfo=datetime.timezone.utc)]:
        size = max(value.__sizeof__(), 64)
        for _ in range(ADDRESSES_TRIED // 40):
            words = (ctypes.c_uint64 * (size // 8)).from_buffer_copy(ctypes.string_at(id(value), size // 8 * 8))
            for _ in range(chance.randrange(1, 4)):
                words[chance.randrange(len(words))] = chance.choice(
                    [0, 1, 2**63, 2**64 - 1, id(value), id(words), chance.getrandbits(64), chance.getrandbits(40)])
            _walk.digest(ctypes.addressof(words))
            _walk.value(ctypes.addressof(words))


def test_memory_at_random():
    chance = random.Random(8)
    for _ in range(ADDRESSES_TRIED):
        address = chance.choice([id(chance), id(tap), id(_walk)]) + 8 * chance.randrange(-400, 400)
        _walk.digest(address)


# --- Results ---

KEPT = []
REFERENCES = ctypes.pythonapi.Py_IncRef
ONE = len(sys.argv[:1])  # no constant: what is made of it is new


def made(make):
    """The address of an object with one reference, which lives on."""
    value = make()
    address = id(value)
    REFERENCES(ctypes.py_object(value))
    del value
    return address


def result(make):
    """(content, has it eight different words?, can it be compared by itself?) of what make() returns; None: it says
    nothing of its call."""
    return _walk.value(made(make))


def test_results_are_new_or_kept_by_python():
    for make in (lambda: 10**11 + ONE, lambda: 1.5 * ONE, lambda: bytes([1, 2, ONE]), lambda: [1, ONE],
                 lambda: {"a": ONE}):
        assert result(make)
    for value in (3, -1, True, False, 0, "a", b"a", ""):
        content_of, _, is_comparable = _walk.value(id(value))
        assert content_of and not is_comparable, value
    for value in ("a longer text that is kept", b"a longer one", 2.25, (1, 2)):
        assert _walk.value(id(value)) is None, value


def test_what_is_empty_says_nothing():
    for make in (lambda: [], lambda: {}, lambda: [None], lambda: bytearray(64), lambda: (0, 0 * ONE)):
        assert result(make) is None
    assert _walk.value(id(None)) is None
    assert result(lambda: 0.0 * ONE)[2] == 0


def test_what_a_loop_goes_through_says_nothing():
    for make in (lambda: {1: 2}.items(), lambda: {1: 2}.keys(), lambda: {1: 2}.values(), lambda: iter([1, 2]),
                 lambda: re.finditer("a", "banana"), lambda: open("/dev/null"), lambda: (n for n in "ab")):
        assert result(make) is None


class Rows(tuple):
    """Goes through what it has by a method of its own, and is no iterator: so are tensors."""
    def __iter__(self):
        return iter(())


def test_a_type_without_a_next_item_is_no_iterator():
    assert result(lambda: Rows((1.5 * ONE,))) is not None


def test_what_cannot_be_read():
    for make in (object, lambda: [object()], lambda: (1.5 * ONE, object()), lambda: [Plain()], lambda: range(ONE),
                 lambda: {object()}, lambda: (1.5 * ONE, range(ONE))):
        assert result(make)[0] == 0 == result(make)[2]


# What each makes of 1 and of 2 are different values.
COMPARABLE = [lambda x: 10**11 + x, lambda x: 1.5 * x, lambda x: 1.5j * x, lambda x: "text" * (2 * x), lambda x: b"ab" * (2 * x),
              lambda x: bytearray(b"bytes") * x, lambda x: [x], lambda x: [x, 1.5 * x, "text" * x], lambda x: {"a": x},
              lambda x: {x: [1.5 * x, (x, None)]}, lambda x: (x,), lambda x: (0, x), lambda x: (x, None, True, "kept"),
              lambda x: (1.5 * x, 0, None, "text"), lambda x: (1.5, 2.5, 0, -1, x, 3, 4)[2:],
              lambda x: tuple(range(x, x + 16)), lambda x: ((x, (x,)), x), lambda x: list(range(x, x + 16))]


def test_results_are_compared_by_content():
    for make in COMPARABLE:
        one, other, third = (result(lambda: make(x * ONE)) for x in (1, 1, 2))
        assert one == other and one[2] == third[2] == 1 and one[0] != third[0], make(1)


def test_what_is_kept_elsewhere_was_not_made():
    """Such as LAPACK's wrappers return: (array, 0), unless the array is their argument's, written over."""
    kept = 2.5 * ONE
    for make in (lambda: (1.5 * ONE, KEPT), lambda: [kept], lambda: {"a": kept}, lambda: (ONE, (ONE, [kept]))):
        assert result(make)[2] == 0


def test_long_lists_cannot_be_compared_by_themselves():
    """Of these only some items are read, and their order by addresses."""
    for make in (lambda: list(range(1000, 1017)), lambda: {i: i for i in range(9)}):
        assert result(make)[0] and result(make)[2] == 0


def test_different_words_of_a_value():
    assert [result(make)[1] for make in (lambda: 1.5 * ONE, lambda: bytearray(b"a" * 999), lambda: "text" * (9 * ONE),
                                         lambda: [1.0, 0.0] * 8 * ONE)] == [0, 0, 0, 0]
    assert result(lambda: bytes(range(ONE, 250)))[1]
    assert result(lambda: [1.5 ** (i * ONE) for i in range(16)])[1]


# --- Within a tolerance ---

def is_close(one, other, tolerance=1e-9):
    return _walk.is_close(id(one), id(other), tolerance)


def test_numbers_within_a_tolerance():
    for x in (1.0, -1.0, 1e-300, -1e300, 12.5):
        assert is_close(x, x * (1 + 9e-10)) and not is_close(x, x * (1 + 1.1e-9)), x
        assert not is_close(x, -x) and not is_close(x, 0.0)
        assert is_close(x + 1j, x + 1j * (1 + 9e-10)) and not is_close(x + 1j, x + 1j * (1 + 1.1e-9))
    assert is_close(0.0, -0.0)


def test_numbers_of_a_value():
    def value(change=0.0, text="a", count=3):
        return [1.5, {"b": (2.5 + change, text)}, count]
    assert is_close(value(), value(1e-9)) and not is_close(value(), value(1e-8))
    assert not is_close(value(), value(text="b")) and not is_close(value(), value(count=4))
    assert not is_close([1.5], (1.5,)) and not is_close([1.5, 2.5], [2.5, 1.5])
    for value in (1, "text", [1], None):
        assert is_close(value, value) is None


def test_what_is_not_finite_is_near_nothing_else():
    nan, infinite = float("nan"), float("inf")
    for one in (nan, infinite, -infinite):
        assert is_close([one, 1.0], [one, 1.0 + 1e-10])
        assert not is_close([one, 1.0], [1.0, one]) and not is_close([one], [1e308])
    assert not is_close([infinite], [-infinite])


# --- NumPy ---

def with_numpy(test):
    def skip_or_test():
        if numpy is None:
            raise tap.Skip("no NumPy")
        test()
    return skip_or_test


@with_numpy
def test_arrays():
    one = numpy.arange(100.0)
    assert content(one) == content(numpy.arange(100.0)) and traits(one) == 0
    assert len({content(array) for array in (one, one.reshape(10, 10), one.astype("f4"), one.reshape(5, 20),
                                             one + 1)}) == 5
    before = content(one)
    one[57] = 0
    assert content(one) != before
    assert traits(numpy.zeros(257)) == SAMPLED
    assert content(numpy.zeros((0, 3))) == content(numpy.zeros((0, 3)))


@with_numpy
def test_columns_are_followed_and_other_views_are_not():
    table = numpy.arange(300.0).reshape(100, 3)
    column, neighbour = table[:, 1], table[:, 2]
    before = content(column)
    neighbour[:] = 0
    assert content(column) == before and traits(column) == 0
    table[3, 1] = 0
    assert content(column) != before
    assert content(table[::-1, 0]) == content(table.copy()[::-1, 0])
    part = table[:, :2]
    assert traits(part) == OPAQUE


@with_numpy
def test_arrays_of_objects_have_no_value():
    assert traits(numpy.array([None, "a"], dtype=object)) == OPAQUE


@with_numpy
def test_numbers_of_numpy():
    for kind in ("float64", "float32", "int8", "uint16", "bool_", "complex128", "int64"):
        make = getattr(numpy, kind)
        assert content(make(1)) == content(make(1)) != content(make(0)), kind
        assert traits(make(1)) == 0, kind


@with_numpy
def test_new_arrays_of_zeros_say_nothing():
    assert result(lambda: numpy.zeros(9)) is None
    assert result(lambda: numpy.ones(9))


@with_numpy
def test_arrays_as_results():
    for make in (lambda: numpy.arange(1000.0 * ONE), lambda: (numpy.arange(9.0 * ONE), 0),
                 lambda: [numpy.arange(9.0 * ONE)]):
        assert result(make) == result(make) and result(make)[1:] == (1, 1)
    assert result(lambda: numpy.arange(99.0) % 2)[1:] == (0, 1)
    table = numpy.arange(300.0).reshape(100, 3)
    assert result(lambda: table[1:])[2] == 0  # another's data
    assert result(lambda: (table, 0))[2] == 0
    for at in range(1024):
        other = numpy.arange(1024.0)
        other[at] = -1
        assert result(other.copy)[0] != result(numpy.arange(1024.0).copy)[0], at


@with_numpy
def test_types_of_elements_count_by_value():
    """A type of dates is another object for each array."""
    day = numpy.datetime64("2024-01-02")
    assert content(numpy.array([day])) == content(numpy.array([day])) != content(numpy.array([day + 1]))
    ones = [numpy.ones(8, kind) for kind in ("<i4", ">i4", "<f4", "<i8", "<u4")]
    assert len({content(array) for array in ones}) == len(ones)


@with_numpy
def test_arrays_within_a_tolerance():
    chance = numpy.random.RandomState(1)
    for kind, tolerance in (("f8", 1e-9), ("f4", 1e-4), ("c16", 1e-9), ("c8", 1e-4)):
        one = (chance.standard_normal(2048) + 3).astype(kind)
        near = (one * (1 + 0.9 * tolerance * chance.uniform(-1, 1, 2048))).astype(kind)
        assert content(one) != content(near) and is_close(one, near, tolerance), kind
        assert is_close(one[:20], near[:20], tolerance) and is_close(one[::2], near[::2], tolerance)
        far = one.copy()
        far[0] *= 1 + 999 * tolerance
        assert not is_close(one, far, tolerance), kind
        far = one.copy()
        far[0], far[32] = far[32], far[0]
        assert not is_close(one, far, 1e-6), kind
        assert not is_close(one, one[:-1], tolerance) and not is_close(one, one.reshape(2, -1), tolerance)
    assert is_close(numpy.float32(1), numpy.float32(1 + 1e-5), 1e-4)
    assert not is_close(numpy.float32(1), numpy.float64(1))
    assert is_close(numpy.arange(9), numpy.arange(9)) is None
    assert is_close(numpy.ones(9, ">f8"), numpy.ones(9, ">f8")) is None


@with_numpy
def test_up_to_32_numbers_are_compared_each_with_its_own():
    one = numpy.exp2(numpy.arange(32.0))
    for at in range(32):
        other = one.copy()
        other[at] *= 1 + 2e-9
        assert not is_close(one, other), at


@with_numpy
def test_freed_arrays():
    addresses = [id(numpy.arange(float(i))) for i in range(1, 200)]
    for address in addresses:
        _walk.digest(address)


tap.run_module(globals())
