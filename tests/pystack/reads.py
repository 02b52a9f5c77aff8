# SPDX-License-Identifier: Apache-2.0
"""The long value that a call reads: _walk.call_read() says it of its own arguments, and last_read() of the call in
which an object that takes samples was compared."""

import _walk
import tap

SEARCH, ARGUMENT, FOLD = 1, 2, 10
OTHERS = (None, FOLD)  # an operator may lie in a loop that folds
read = _walk.call_read
WORDS = [f"word {i}" for i in range(100)]


def size(found):
    assert found is not None
    return found[:2]


def kind(found):
    return found and found[0]


def begins_alike(shorter, longer):
    return shorter[2] in longer[2:4]


def test_the_longest_argument():
    assert size(read(b"x" * 5000, 3, "y" * 600)) == (ARGUMENT, 5000)
    assert size(read("a", "ä" * 600)) == (ARGUMENT, 600)
    assert size(read(1, "€" * 600)) == (ARGUMENT, 1200)
    assert size(read(bytearray(700), b"y" * 600)) == (ARGUMENT, 700)
    assert size(read([None] * 100)) == size(read(tuple(WORDS))) == (ARGUMENT, 800)
    assert size(read(*(1, b"x" * 5000))) == size(read(key=b"x" * 5000)) == (ARGUMENT, 5000)


def test_nothing_long():
    assert read() is None and read(1, "abc", b"x" * 511, [None] * 63) is None
    assert read({i: i for i in range(1000)}) is None and read(2**10000) is None


def test_a_longer_one_begins_alike():
    whole = bytes(i * 7919 >> 4 & 255 for i in range(100000))
    for at, more in ((600, 1), (1000, 50), (1023, 2), (1024, 1000), (4000, 3999), (70000, 10000)):
        a, b = read(whole[:at]), read(whole[: at + more])
        assert begins_alike(a, b), (at, more)
        assert not begins_alike(a, read(b"?" + whole[1 : at + more])), "the first word is another one"
    a, b = read(whole[:70000]), read(whole[:30000] + b"?" * 8000 + whole[38000:70000])
    assert not begins_alike(a, b), "a word in the middle is another one"
    assert begins_alike(read(WORDS[:90]), read(WORDS))


def test_the_rest():
    """What is called, and all other arguments."""
    a, b = read(b"x" * 600, 1, "a"), read(b"x" * 700, 1, "a")
    assert a[4] == b[4]
    others = [read(b"x" * 600, 2, "a"), read(b"x" * 600, 1), read(1, b"x" * 600, "a")]
    assert len({a[4], *(other[4] for other in others)}) == 4


def searched(search):
    search()
    return _walk.last_read()


def test_searches():
    """Of the items the last one takes a sample when it is compared."""
    items = [*WORDS, _walk.Probe()]
    everything = tuple(items)
    for search in (lambda: "no" in items, lambda: "no" not in items, lambda: items.index("no"), lambda: items.count("no")):
        for _ in range(20):  # it is specialised
            found = searched(search)
        assert size(found) == (SEARCH, 101) and found[5] == 0
    assert size(searched(lambda: "no" in everything)) == size(searched(lambda: everything.index("no"))) == (SEARCH, 101)
    assert searched(lambda: "no" in list(items))[5] == 1


def test_no_searches():
    short, items = [*WORDS[:20], _walk.Probe()], [*WORDS, _walk.Probe()]
    assert kind(searched(lambda: "no" in short)) in OTHERS, "too short"
    assert kind(searched(lambda: [] in items)) in OTHERS, "no key of a set"
    assert kind(searched(lambda: items + [1] if _walk.Probe() == 1 else 0)) in OTHERS
    assert kind(searched(lambda: (WORDS == items, _walk.Probe() + 1))) in OTHERS


tap.run_module(globals())
