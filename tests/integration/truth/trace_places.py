# SPDX-License-Identifier: Apache-2.0
"""Loops that do not ask to be traced, with iterables of every shape: with in and : for x in y:"""


def shapes(a, b="in: #"):
    t = 0
    for k, (i, j) in enumerate([(1, 2), (3, 4)]):  # in: a comment
        t += i * j + k
    for x in 1, 2, 3:
        t += x
    for x in a or [5]:
        t += x
    for x in [7] if b else [8]: t += x  # noqa: E701
    for x in (y for y in
              {"a:in": 1, 'b': 2}.values()):
        t += x
    for x in a[0:2]:
        t += x
    for s in ("in"
              .upper()):
        t += len(s)
    for x in [*a], *[a]: t += len(x)  # noqa: E701
    for inner in range(
            3):
        for infor in "a:b":
            t += inner + len(infor)
        else:
            t += 1
    for x in f"{t:>3}":
        t += len(x)
    for x in '''a
:in''':
        t += 1
    return t


class Made:
    def method(self):
        def local():
            return [q for q in map(str, range(3))]
        for z in local():
            yield z


def mixed():
    pairs = [(a, b)
             for a in range(2)
             for b in range(3)]
    t = 0
    for a, b in pairs:  # MIXED
        t += sum([x * y for x in (a, b) for y in (a, b)])
        t += len({x for x in [*pairs[0], *pairs[1]]})
    return t, {k: v for k, v in pairs for k in (k,)}


def never():
    for x in []:  # never runs
        pass
    if not __name__:
        for x in [1]:
            print(x)


def slow():
    return sum(range(400))


def main():
    for i in range(20000):  # MAIN
        slow()
        len("quick")


for each in range(2):  # MODULE
    print(shapes([1, 2, 3]), list(Made().method()), mixed())
never()
main()
try:
    for each in shapes(None):
        pass
except TypeError as error:
    print(error)
