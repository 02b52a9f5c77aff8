# SPDX-License-Identifier: Apache-2.0
"""The arguments of a call, found on the evaluation stack: _walk.call_digest() digests those that it is called with."""
import functools

import _walk
import tap

try:
    import numpy
except ImportError:
    numpy = None

OPAQUE, SAMPLED = 1, 2
call = _walk.call_digest


class Holder:
    method = None


class Suppressor:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


def content(digest):
    assert digest is not None
    return digest[0]


def test_arguments_are_found():
    _walk.set_result(3)
    seen = {content(call(1)), content(call(2)), content(call("a")), content(call(1, 2)), content(call(2, 1)),
            content(call(1, 2, 3)), content(call(None))}
    assert len(seen) == 7


def test_the_same_arguments_again():
    _walk.set_result(3)
    digests = [call(x, "text", [1, x]) for x in (7, 7, 8)]
    assert digests[0] == digests[1] and digests[0][4] == 1
    assert digests[2][0] != digests[0][0]


def test_depth_of_the_stack():
    """Whatever lies below the arguments on the stack has no part in them."""
    _walk.set_result(3)
    plain = [call(5) for _ in range(1)][0]
    deep = (1, 2, [3, {4: call(5)}])[2][1][4]
    assert content(plain) == content(deep)
    for i in (10, 11):
        for _j in (1,):
            with open("/dev/null") as file:
                if file and i:
                    found = call(5)
        assert content(found) == content(plain), i
    found = i + call(5)[0] if i > 3 else None
    assert found == i + content(plain)
    found = not i or (i and call(5))
    assert content(found) == content(plain)
    while True:
        try:
            found = call(5)
        finally:
            break
    assert content(found) == content(plain)


def test_behind_exceptions():
    """Code that only exceptions lead to."""
    _walk.set_result(3)
    for _ in range(2):
        try:
            raise ValueError
        except ValueError:
            inside = call(5)
        after = call(5)
        with Suppressor():
            raise ValueError
        behind = (1, call(5))[1]
    plain = call(5)
    assert content(inside) == content(after) == content(behind) == content(plain)


def test_keywords_and_unpacked_arguments():
    _walk.set_result(3)
    for make in (lambda x: call(x, key=x), lambda x: call(*(x, x)), lambda x: call(**{"key": x}),
                 lambda x: call(1, *[x], key=2), lambda x: call(1, **{"key": x})):
        assert content(make(1)) == content(make(1)) != content(make(2))


def test_a_list_that_was_unpacked_is_gone():
    """CPython makes a tuple of it and keeps that to itself: nothing is said, or what is right."""
    _walk.set_result(3)
    seen = {call(*[x]) for x in (1, 1, 2)}
    assert None in seen or len(seen) == 2


def test_generators():
    _walk.set_result(3)

    def generate(x):
        yield call(x)
        yield [call(x) for _ in range(2)]

    one, two = list(generate(1)), list(generate(2))
    assert content(one[0]) != content(two[0])
    assert content(one[1][0]) == content(one[1][1]) == content(one[0])


def test_bound_methods_and_attributes():
    _walk.set_result(3)
    Holder.method = call
    assert content(Holder.method(1)) == content(call(1)) != content(Holder.method(2))
    assert content(_walk.call_digest_of_one(1)) != content(_walk.call_digest_of_one(2))
    kept = functools.partial(call, 1)
    assert kept is not None


def test_specialised_calls():
    _walk.set_result(3)
    for arguments in ((1,), (2,)):
        seen = {content(_walk.call_digest_of_one(arguments)) for _ in range(100)}
        assert len(seen) == 1


def test_many_arguments():
    _walk.set_result(3)
    one = eval("call(%s)" % ", ".join(map(str, range(200))))
    other = eval("call(%s, 7)" % ", ".join(map(str, range(199))))
    assert content(one) != content(other)


def test_long_functions_are_not_gone_through():
    _walk.set_result(3)
    namespace = {"call": call}
    exec("def f():\n" + "    a = 1\n" * 9000 + "    return call(1)\n", namespace)
    assert namespace["f"]() is None


def test_what_tells():
    _walk.set_result(3)
    assert call(1)[4] == 1
    assert call()[4] == 0                       # it went by nothing that can be seen
    assert call(object())[4] == 1               # the result can be compared
    _walk.set_result(None)
    assert call(1)[4] == 0                      # a call for its effect
    _walk.set_result("a text that is kept elsewhere")
    assert call(1)[4] == 0


def test_what_tells_most_likely():
    """The result cannot be read, as that of a factorisation, and a part of a long argument was looked at."""
    long = bytes(range(256)) * 1000
    _walk.set_result(object())
    assert call(1)[4:] == (1, 0)
    assert call(long, 1)[4:] == (0, 1)
    assert call(object(), long)[4:] == (0, 0)
    assert call(Holder)[4:] == (0, 0)           # as cls.__new__(cls): an object that has no value yet
    assert call(Holder, 1)[4:] == (1, 0)
    _walk.set_result(None)
    assert call(long, 1)[4:] == (0, 0)
    _walk.set_result(3)
    assert call(long, 1)[4:] == (1, 0)          # that can be compared


def test_results():
    _walk.set_result(3)
    three = call(1)
    _walk.set_result(4)
    four = call(1)
    assert three[0] == four[0] and three[2] != four[2]


def test_code_that_is_forgotten():
    _walk.set_result(3)
    for round in range(3):
        functions = []
        for i in range(1500):
            namespace = {"call": call}
            exec("def f%d(x):\n    return %scall(x)%s" % (i, "[1, " * (i % 5), "][1]" * (i % 5)), namespace)
            functions.append(namespace["f%d" % i])
        expected = content(call(9))
        for f in functions:
            assert content(f(9)) == expected


# --- The array that a call got ---

def with_numpy(test):
    def skip_or_test():
        if numpy is None:
            raise tap.Skip("no NumPy")
        test()
    return skip_or_test


def data_of(array, offset=0):
    return array.__array_interface__["data"][0] + offset


@with_numpy
def test_the_only_array_of_a_call_is_found():
    array, got = numpy.arange(1000.0), _walk.array_argument
    _walk.set_result(3)
    for offset in (0, 7999):
        _walk.set_address_of_data(data_of(array, offset))
        assert got(array) == got(array, 1) == got(7, "text", array) == got(array, axis=None) == 8000
        assert got(array, k=1, m=array[0]) == got(*(array, 1)) == got(*(array,), **{"out": None}) == 8000
        assert (1, [got(array)])[1][0] == 8000
    assert got(array[10:]) == 7920, "a view of it"
    for offset in (-1, 8000):
        _walk.set_address_of_data(data_of(array, offset))
        assert got(array) == 0


@with_numpy
def test_a_second_array_is_another_operand():
    array, other, got = numpy.arange(1000.0), numpy.ones(3), _walk.array_argument
    _walk.set_result(3)
    _walk.set_address_of_data(data_of(array))
    assert got(array, other) == got(other, array) == got(array, out=other) == got(*(array, other)) == 0
    assert got(array, numpy.float64(3)) == got(array, numpy.array(3.0)) == got(array, numpy.ones(1)) == 8000
    assert got() == got(1) == got(other) == 0


@with_numpy
def test_an_array_that_is_made_into_another_one():
    array, got = numpy.arange(1000.0), _walk.array_argument
    _walk.set_address_of_data(data_of(array))
    for result in (array * 2, numpy.arange(1000, dtype="i1"), numpy.arange(2000)):
        _walk.set_result(result)
        assert got(array) == 0
    for result in (array > 2, numpy.arange(999), numpy.array(3.0), 3, None):
        _walk.set_result(result)
        assert got(array) == 8000


tap.run_module(globals())
