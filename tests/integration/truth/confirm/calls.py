# SPDX-License-Identifier: Apache-2.0
"""Calls whose numbers are known: each marked line is counted by pieprof confirm (test_truth_confirm.py)."""
import array
import json
import math
import sys
import threading


def same(n, x):
    total = 0.0
    for _ in range(n):
        total += math.cos(x)  # same
    return total


def distinct(n):
    return [json.loads(text) for text in ['{"a": [%d, null, "b"]}' % i for i in range(n)]]  # distinct


def few(n):
    return [json.loads('[%d]' % (i % 7)) for i in range(n)]  # few


def toggle(n):
    values = [(0.25, b"x"), (0.5, b"y")]
    return sum(hash(values[i % 2]) is not None for i in range(n))  # toggle


def odd(i):
    if i % 3 == 0:
        raise ValueError(i)
    return i % 2


def raising(n):
    caught = 0
    for i in range(n):
        try:
            odd(i % 30)  # raising
        except ValueError:
            caught += 1
    return caught


def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)  # recursion


def squares(n):
    for i in range(n):
        yield pow(i % 10, 2)  # generator


def elements(n):
    values = array.array("d", range(100))
    total = 0.0
    for i in range(n):
        total += values[i % 100]  # elements
    return total


class Mine:
    def __eq__(self, other):
        print("compared")
        return True

    def __hash__(self):
        print("hashed")
        return 1

    def value(self):
        return 7


def objects(n):
    mine = Mine()
    return sum(mine.value() for _ in range(n))  # objects


def attributes(n):
    mine = Mine()
    for i in range(n):
        mine.name = ["a", i % 5]
        mine.value()  # attributes


class Slotted:
    __slots__ = ("name",)


def opaque(n):
    one = Slotted()
    return [isinstance(one, int) for _ in range(n)]  # opaque


def named(n):
    return [int("11", base=2 + i % 3) for i in range(n)]  # named


def star(n):
    return [max(*[1, 2 + i % 2], **{"key": None}) for i in range(n)]  # star


def closures(n):
    return [sorted([3, 1, 2], key=lambda v, k=i % 4: v * k) for i in range(n)]  # closures


def enclosed(n):
    def down(i):
        return 0 if i == 0 else down(i - 1)
    return [down(i % 3) for i in range(n)]  # enclosed


def changed(n):
    kept = []
    for i in range(n):
        kept.append(i)
        len(kept)  # changed


def threads(n):
    def run():
        for _ in range(n):
            math.sqrt(2.0)  # threads
    made = [threading.Thread(target=run) for _ in range(4)]
    for one in made:
        one.start()
    for one in made:
        one.join()


def many(n):
    a = bytearray(300)
    for i in range(n):
        print(end="")  # many
    if n:
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15] = range(16)
    return a


def far(n):  # the end of the loop's body is more than 255 units away
    total = 0
    for i in iter(range(n)):  # far
        total += i * 1 + i * 2 + i * 3 + i * 4 + i * 5 + i * 6 + i * 7 + i * 8 + i * 9 + i * 10 + i * 11 + i * 12
        total += i * 1 + i * 2 + i * 3 + i * 4 + i * 5 + i * 6 + i * 7 + i * 8 + i * 9 + i * 10 + i * 11 + i * 12
        total += i * 1 + i * 2 + i * 3 + i * 4 + i * 5 + i * 6 + i * 7 + i * 8 + i * 9 + i * 10 + i * 11 + i * 12
        total += i * 1 + i * 2 + i * 3 + i * 4 + i * 5 + i * 6 + i * 7 + i * 8 + i * 9 + i * 10 + i * 11 + i * 12
    return total


def fail(i):
    raise ValueError(i)


def thrown(i):
    return fail(i % 4)  # unwound


def unwound(n):
    caught = 0
    for i in range(n):
        try:
            thrown(i)
        except ValueError:
            caught += 1
    return caught


def deep(n, lock=threading.Lock()):
    kept = 0
    for i in range(n):
        for _ in (0,):
            with lock:
                kept += [1, (2, {3: abs(i % 5 - 9)})][0] if i else len((f"{abs(-1)}", *(abs(-2),), abs(-3)))  # deep
    return kept


def handled(n):
    found = []
    for i in range(n):
        try:
            {}[i]
        except KeyError:
            found.append(len("abc"[i % 3:]))  # handler
        finally:
            found.append(divmod(i % 2, 2))  # finally
    return found


def stored(n):
    values = list(range(9))
    for i in range(n):
        values[1:3] = [i % 4, 0]  # stored
    return values


async def waited(i):
    return pow(i % 6, 3)  # coroutine


async def gathered(n):
    return [await waited(i) for i in range(n)]


def coroutines(n):
    work = gathered(n)
    try:
        work.send(None)
    except StopIteration as end:
        return len(end.value)


print(same(2000, 0.5), len(distinct(500)), len(few(700)), toggle(1000), raising(300), fibonacci(12), sum(squares(1000)))
attributes(30)
print(len(opaque(50)), len(enclosed(30)))
print(elements(1000), objects(50), len(named(90)), len(closures(40)), far(5), sys.argv[1:], sys.gettrace(), sys.getprofile())
try:
    star(1)
except TypeError as error:
    print(error)
print(unwound(40), deep(50), len(handled(60)), stored(40), coroutines(60))
changed(60)
threads(250)
many(20)
sys.exit(3)
