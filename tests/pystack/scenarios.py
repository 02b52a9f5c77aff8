# SPDX-License-Identifier: Apache-2.0
"""Stacks whose every frame and line is known, taken inside a signal handler.

A scenario calls take() somewhere; its docstring is the expected stack from take()'s caller outwards, one frame a line:
qualified name, source line. Frames of this file only; the line of take() and those of the driver are left out.
"""
import contextlib
import functools
import itertools
import linecache
import sys
import threading

import _walk
import tap

stacks = []


def take():
    stacks.append(_walk.sample())
    return True


def callback(x):
    take()
    return x


def generator():
    take()
    yield 1


class Special:
    def __init__(self, quiet=False):
        quiet or take()

    def __getattr__(self, name):
        take()

    def __add__(self, other):
        take()

    def __enter__(self):
        take()

    def __exit__(self, *exception):
        pass

    def __iter__(self):
        take()
        yield 1

    @property
    def attribute(self):
        return take()

    @classmethod
    def make(cls):
        take()


class Dying:
    def __del__(self):
        take()


def plain():
    """plain | take()"""
    take()


def plain_calls():
    """callback | take()
    plain_calls.<locals>.inner | return callback(1)
    plain_calls | inner()"""
    def inner():
        return callback(1)
    inner()


def sorted_key():
    """callback | take()
    sorted_key | sorted([1], key=callback)"""
    sorted([1], key=callback)


def map_callback():
    """callback | take()
    map_callback | list(map(callback, [1]))"""
    list(map(callback, [1]))


def reduce_lambda():
    """callback | take()
    reduce_lambda.<locals>.<lambda> | functools.reduce(lambda a, b: callback(a), [1, 2])
    reduce_lambda | functools.reduce(lambda a, b: callback(a), [1, 2])"""
    functools.reduce(lambda a, b: callback(a), [1, 2])


def partial_object():
    """callback | take()
    partial_object | functools.partial(callback, 1)()"""
    functools.partial(callback, 1)()


def for_generator():
    """generator | take()
    for_generator | for _ in generator():"""
    for _ in generator():
        pass


def list_generator():
    """generator | take()
    list_generator | list(generator())"""
    list(generator())


def yield_from():
    """generator | take()
    yield_from.<locals>.outer | yield from generator()
    yield_from | next(outer())"""
    def outer():
        yield from generator()
    next(outer())


def two_generators_in_turn():
    """callback | take()
    two_generators_in_turn.<locals>.second | yield callback(2)
    two_generators_in_turn | for _ in zip(first(), second()):"""
    def first():
        yield 1
        yield 2

    def second():
        yield callback(2)
    for _ in zip(first(), second()):
        break


def coroutines():
    """coroutines.<locals>.inner | take()
    coroutines.<locals>.outer | await inner()
    coroutines | outer().send(None)"""
    async def inner():
        take()

    async def outer():
        await inner()
    with contextlib.suppress(StopIteration):
        outer().send(None)


def async_generator():
    """async_generator.<locals>.agen | take()
    async_generator.<locals>.main | async for _ in agen():
    async_generator | main().send(None)"""
    async def agen():
        take()
        yield 1

    async def main():
        async for _ in agen():
            pass
    with contextlib.suppress(StopIteration):
        main().send(None)


def constructor():
    """Special.__init__ | quiet or take()
    constructor | Special()"""
    for _ in range(30):  # the specialised call too
        Special()


def missing_attribute():
    """Special.__getattr__ | take()
    missing_attribute | Special(True).missing"""
    for _ in range(30):
        Special(True).missing


def property_getter():
    """Special.attribute | return take()
    property_getter | Special(True).attribute"""
    for _ in range(30):
        Special(True).attribute


def operator():
    """Special.__add__ | take()
    operator | Special(True) + 1"""
    Special(True) + 1


def class_method():
    """Special.make | take()
    class_method | Special.make()"""
    Special.make()


def with_statement():
    """Special.__enter__ | take()
    with_statement | with Special(True):"""
    with Special(True):
        pass


def iterator_method():
    """Special.__iter__ | take()
    iterator_method | list(Special(True))"""
    list(Special(True))


def finalizer():
    """Dying.__del__ | take()
    finalizer | Dying()"""
    Dying()


def finalizer_of_a_local():
    """Dying.__del__ | take()
    finalizer_of_a_local | inner()"""
    # A frame leaves the chain before its locals are cleared.
    def inner():
        x = Dying()
    inner()


def context_manager():
    """context_manager.<locals>.manager | take()
    context_manager | with manager():"""
    @contextlib.contextmanager
    def manager():
        take()
        yield
    with manager():
        pass


def exec_string():
    """exec_string | exec("take()", globals())"""
    exec("take()", globals())


def eval_string():
    """callback | take()
    eval_string | eval("callback(1)")"""
    eval("callback(1)")


def keyword_and_star_calls():
    """callback | take()
    keyword_and_star_calls.<locals>.inner | return callback(**kwargs)
    keyword_and_star_calls | inner(*[], **{"x": 1})"""
    def inner(*args, **kwargs):
        return callback(**kwargs)
    inner(*[], **{"x": 1})


def exception_handler():
    """callback | take()
    exception_handler | callback(1)"""
    try:
        raise ValueError
    except ValueError:
        callback(1)


def decorated():
    """callback | take()
    decorated.<locals>.decorator.<locals>.wrapper | return function(*args)
    decorated | wrapped(1)"""
    def decorator(function):
        @functools.wraps(function)
        def wrapper(*args):
            return function(*args)
        return wrapper
    wrapped = decorator(callback)
    wrapped(1)


def nested_loops_of_the_interpreter():
    """callback | take()
    nested_loops_of_the_interpreter.<locals>.<lambda> | list(map(lambda y: sorted([y], key=callback), [1]))
    nested_loops_of_the_interpreter | list(map(lambda y: sorted([y], key=callback), [1]))"""
    list(map(lambda y: sorted([y], key=callback), [1]))


def chained_iterators():
    """generator | take()
    chained_iterators | list(itertools.chain(generator()))"""
    list(itertools.chain(generator()))


def traced_function():
    """callback | take()
    traced_function | callback(1)"""
    sys.settrace(lambda frame, event, arg: None)
    try:
        callback(1)
    finally:
        sys.settrace(None)


def profiled_function():
    """callback | take()
    profiled_function | callback(1)"""
    sys.setprofile(lambda frame, event, arg: None)
    try:
        callback(1)
    finally:
        sys.setprofile(None)


def multi_line_call():
    """callback | take()
    multi_line_call | callback("""
    dict(a=1,
         b=
         callback(
             1))


SCENARIOS = [
    plain, plain_calls, sorted_key, map_callback, reduce_lambda, partial_object, for_generator, list_generator,
    yield_from, two_generators_in_turn, coroutines, async_generator, constructor, missing_attribute, property_getter,
    operator, class_method, with_statement, iterator_method, finalizer, finalizer_of_a_local, context_manager,
    exec_string, eval_string, keyword_and_star_calls, exception_handler, decorated, nested_loops_of_the_interpreter,
    chained_iterators, traced_function, profiled_function, multi_line_call,
]


def drive(scenario):
    scenario()


def own_frames(stack, driver):
    """(name, source line) of the frames of this file between take() and the driver."""
    frames = [(name, linecache.getline(file, line).strip()) for name, file, line, _ in stack if file == __file__]
    names = [name for name, _ in frames]
    assert names[0] == "take", frames
    return frames[1:names.index(driver)]


def check(scenario):
    stacks.clear()
    drive(scenario)
    stack, flags = stacks[-1]
    expected = [tuple(line.strip().split(" | ", 1)) for line in scenario.__doc__.split("\n")]
    assert own_frames(stack, "drive") == expected, (own_frames(stack, "drive"), expected)
    assert flags == _walk.PYTHON_THREAD | _walk.IN_CALL, flags
    assert stack[-1][0] == "<module>" and stack[-1][3], stack[-1]  # the outermost frame ends a loop
    assert all(line > 0 for _, _, line, _ in stack), stack  # none of the interpreter's own


def test_in_new_thread():
    stacks.clear()
    thread = threading.Thread(target=callback, args=(1,))
    thread.start()
    thread.join()
    names = [frame[0] for frame in stacks[-1][0]]
    assert names[:2] == ["take", "callback"] and names[-1] == "Thread._bootstrap", names


def loops_of_the_interpreter(function):
    """How many frames of the sample that function takes have a marker, beyond those around it."""
    take()
    around = sum(marker for _, _, _, marker in stacks[-1][0])
    function()
    return sum(marker for _, _, _, marker in stacks[-1][0]) - around


def test_one_marker_for_each_loop_of_the_interpreter():
    assert loops_of_the_interpreter(plain) == 0  # inlined
    assert loops_of_the_interpreter(sorted_key) == 1
    assert loops_of_the_interpreter(nested_loops_of_the_interpreter) == 2
    assert loops_of_the_interpreter(exec_string) == 1


def recurse(depth):
    return recurse(depth - 1) if depth else take()


def test_deep_stacks_are_cut_and_say_so():
    recurse(_walk.FRAMES_MAX * 2)
    stack, flags = stacks[-1]
    assert len(stack) == _walk.FRAMES_MAX and flags & _walk.TRUNCATED and not flags & _walk.INVALID
    recurse(5)
    assert not stacks[-1][1] & _walk.TRUNCATED


def test_greenlets():
    try:
        import greenlet
    except ImportError:
        raise tap.Skip("greenlet is not installed")
    here = greenlet.getcurrent()

    def first():
        here.switch()
        callback(1)
    one = greenlet.greenlet(first)
    one.switch()
    one.switch()
    stack, flags = stacks[-1]
    assert [frame[0] for frame in stack[:3]] == ["take", "callback", "test_greenlets.<locals>.first"], stack
    assert not flags & _walk.INVALID
    take()
    stack, flags = stacks[-1]
    assert [frame[0] for frame in stack[:2]] == ["take", "test_greenlets"] and not flags & _walk.INVALID


tap.run([(scenario.__name__, functools.partial(check, scenario)) for scenario in SCENARIOS] +
        [(name, value) for name, value in list(globals().items()) if name.startswith("test_")])
