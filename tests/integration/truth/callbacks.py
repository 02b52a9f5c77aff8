# SPDX-License-Identifier: Apache-2.0
"""Every way in which CPython calls Python code from C code, with the call path that is right for each.

usage: callbacks.py SECONDS     of CPU time in each scenario

The truth is the interpreter's own: burn() notes the frames that called it, then burns CPU time. Whatever samples land
in burn() must have one of the noted paths. The program ends by printing, for each scenario, the paths (function and
line, outermost first, burn left out) and the CPU time burned there.
"""

import abc
import asyncio
import collections
import contextlib
import ctypes
import functools
import gc
import importlib.util
import json
import os
import re
import signal
import sys
import tempfile
import threading
import time
import weakref

from measure import tell

seconds = float(sys.argv[1])
burned = collections.defaultdict(dict)  # made by C: burn() must call no Python function
current = ["none"]  # the scenario that runs


def burn(parts=1):
    """Burns its part of the scenario's CPU time and notes who called."""
    begun = time.thread_time()
    frame, path = sys._getframe(1), []
    while frame is not None:
        path.append((frame.f_code.co_qualname, frame.f_lineno))
        frame = frame.f_back
    x = 1
    while time.thread_time() - begun < seconds / parts:
        for _ in range(2000):
            x = (x * 75 + 74) % 65537
    paths, path = burned[current[0]], tuple(reversed(path))
    paths[path] = paths.get(path, 0) + time.thread_time() - begun
    return x


class Key:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        burn(3)
        return self.value < other.value


class Model(abc.ABC):
    def __init__(self):
        burn(4)

    def __call__(self, *_):
        return burn(4)

    def __getattr__(self, name):
        return burn(4)

    @property
    def value(self):
        return burn(4)


class Child(Model):
    def __init__(self):
        super().__init__()


class Meta(type):
    def __call__(cls):
        burn(2)
        return super().__call__()

    def __new__(mcs, name, bases, body):
        burn(2)
        return super().__new__(mcs, name, bases, body)


class Dying:
    def __del__(self):
        burn(2)


class Steps:
    def __iter__(self):
        return self

    def __next__(self):
        burn(3)
        raise StopIteration


def double(x, y=0):
    burn(3)
    return x


def scenario_call():
    double(1)
    double(2)
    double(3)


def scenario_sorted_key():
    return sorted([3, 1, 2], key=double)


def scenario_sorted_lt():
    return sorted([Key(2), Key(1), Key(3)])


def scenario_max_lambda():
    return max([3, 1, 2], key=lambda x: double(x))


def scenario_map():
    return list(map(double, [1, 2, 3]))


def scenario_filter():
    return [x for x in filter(double, [1, 2, 3])]


def scenario_reduce():
    return functools.reduce(double, [1, 2, 3, 4])


def scenario_partial():
    return functools.partial(double, y=1)(1)


def scenario_cache():
    return functools.lru_cache(double)(4)


def numbers():
    for x in range(3):
        yield double(x)


def scenario_generator_loop():
    for _ in numbers():
        pass


def scenario_generator_list():
    return list(numbers())


def delegating():
    burn(4)
    yield from numbers()


def scenario_yield_from():
    return sum(delegating())


def scenario_generator_expression():
    return sum(double(x) for x in range(3))


def scenario_comprehension():
    return {double(x): double(x) for x in range(2)}


async def inner():
    return burn(2)


async def outer():
    return await inner()


def scenario_coroutine():
    for _ in range(2):
        coroutine = outer()
        try:
            coroutine.send(None)
        except StopIteration:
            pass


async def ticks():
    for _ in range(2):
        await asyncio.sleep(0)
        yield burn(4)


async def asynchronous():
    async for _ in ticks():
        pass
    await asyncio.gather(outer())


def scenario_asyncio():
    asyncio.run(asynchronous())


@contextlib.contextmanager
def managed():
    burn(3)
    yield
    burn(3)


def scenario_contextmanager():
    with managed():
        burn(3)


def scenario_init():
    Model()
    Child()


def scenario_getattr():
    return Model().missing


def scenario_property():
    return Model().value


def scenario_instance_call():
    return list(map(Model(), [1, 2]))


def scenario_metaclass():
    return Meta("Made", (), {})()


def scenario_del():
    Dying()
    dying = Dying()
    del dying


def scenario_cycle():
    one = Dying()
    one.itself = one
    del one
    gc.collect()


def scenario_weakref():
    thing = Key(1)
    reference = weakref.ref(thing, lambda _: burn(1))
    del thing
    return reference


def scenario_iterator():
    return list(Steps())


def scenario_exec():
    exec("def made():\n    burn(2)\nmade()\nburn(2)\n", {"burn": burn})


def scenario_eval():
    return eval("1 + double(1)", {"double": double})


def scenario_class_body():
    class Body:
        value = burn(1)

    return Body


def scenario_exception():
    try:
        raise KeyError
    except KeyError:
        burn(2)
    finally:
        burn(2)


def scenario_decorated():
    @functools.wraps(double)
    def wrapper(*args):
        return double(*args)

    return wrapper(1)


def scenario_recursion(depth=60):
    return scenario_recursion(depth - 1) if depth else burn(1)


def scenario_recursion_through_c(depth=30):
    return list(map(scenario_recursion_through_c, [depth - 1])) if depth else burn(1)


def scenario_re_sub():
    return re.sub("a", lambda match: str(burn(3)), "banana")


def scenario_json_hook():
    return json.loads('[{"a": 1}, {"b": {}}]', object_hook=double)


def scenario_ctypes_callback():
    compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))(
        lambda a, b: burn(1) and a[0] - b[0])
    values = (ctypes.c_int * 2)(2, 1)
    ctypes.CDLL(None).qsort(values, len(values), ctypes.sizeof(ctypes.c_int), compare)


def scenario_signal_handler():
    before = signal.signal(signal.SIGUSR1, lambda number, frame: burn(1))
    os.kill(os.getpid(), signal.SIGUSR1)
    time.sleep(0)
    signal.signal(signal.SIGUSR1, before)


def scenario_thread():
    thread = threading.Thread(target=double, args=(1,))
    thread.start()
    thread.join()


def scenario_import():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "imported.py")
        with open(path, "w", encoding="utf-8") as out:
            out.write("import __main__\n__main__.burn(1)\n")
        spec = importlib.util.spec_from_file_location("imported", path)
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def main():
    for name, scenario in list(globals().items()):
        if name.startswith("scenario_"):
            current[0] = name
            scenario()


main()
tell(file=os.path.abspath(__file__),
     scenarios={name: [{"path": path, "cpu_s": cpu} for path, cpu in paths.items()]
                for name, paths in burned.items()})
