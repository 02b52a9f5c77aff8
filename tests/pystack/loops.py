# SPDX-License-Identifier: Apache-2.0
"""What people call a loop, line by line: each marked line of the functions below is in one, or is not.

A line counts by its own instructions; those of a lambda or an inner function are another code object's.
"""
import os
import sys
import sysconfig

import bytecode

import _walk
import tap

SOURCE = '''
def for_loop(xs):
    before(xs)                              # once
    for x in xs.all:
        inside(x)                           # loop
        xs[x] = xs[x - 1] + 1               # loop
    after(xs)                               # once

def for_else(xs):
    for x in xs:
        if found(x):                        # loop
            left(x)                         # once: and then out
            break
        inside(x)                           # loop
    else:
        never_found(xs)                     # once
    after(xs)                               # once

def returned(xs):
    for x in xs:
        if found(x):                        # loop
            return answer[x] + 1            # once: and then out
        if broken(x):                       # loop
            raise Broken(x)                 # once: and then out
    after(xs)                               # once

def while_loop(x):
    while True:
        x = inside(x)                       # loop
        if x > limit(x):                    # loop
            break
        if x[0]:                            # loop
            continue
        inside[x] -= 1                      # loop
    after(x)                                # once

def nested(xs):
    for x in xs:
        outer(x)                            # loop
        while x.more():
            inner(x)                        # loop
            for y in x:
                innermost(y)                # loop
            inner(x)                        # loop
        outer(x)                            # loop
    after(xs)                               # once

def one_after_the_other(xs):
    for x in xs:
        inside(x)                           # loop
    between(xs)                             # once
    for x in xs:
        inside(x)                           # loop

def handler_without_a_loop(x):
    try:
        attempt(x)                          # once
    except Error:
        handle(x)                           # once
    after(x)                                # once
    if x:                                   # once
        after(x)                            # once
    return after(x)                         # once

def handlers_around_loops(xs):
    try:
        for x in xs:
            inside(x)                       # loop
        attempt(xs)                         # once
    except Error:
        handle(xs)                          # once
    after(xs)                               # once
    for x in xs:
        inside(x)                           # loop
    after(xs)                               # once

def handlers_in_loops(xs):
    before(xs)                              # once
    for x in xs:
        try:
            attempt(x)                      # loop
        except Error as error:
            handle(x)                       # loop
            if error.errno:                 # loop
                continue
            handle(x)                       # loop
        except Other:
            handle(x)                       # loop
        else:
            went_well(x)                    # loop
    after(xs)                               # once
    try:
        attempt(xs)                         # once
    except Error:
        handle(xs)                          # once
    return after(xs)                        # once

def retried(x):
    while True:
        try:
            return attempt(x)               # loop
        except Error:
            wait(x)                         # loop

def given_up(xs):
    for x in xs:
        try:
            attempt(x)                      # loop
        except Error:
            complain(x)                     # once: and then out
            raise
        except Other:
            complain(x)                     # once: and then out
            return
    after(xs)                               # once

def with_blocks(xs):
    with before(xs) as file:
        for x in xs:
            inside(x)                       # loop
            with lock[x]:
                inside(x)                   # loop
        attempt(xs)                         # once
    after(xs)                               # once

def list_of(xs):
    before(xs)                              # once
    result = [
        element(x) + 1                      # loop
        for x in xs
        if element[x] and not x.flag        # loop
    ]
    after(xs)                               # once
    return result

def dict_of(xs):
    return {
        key(x):                             # loop
        value[x]                            # loop
        for x in xs
    }

def sum_of(xs):
    return sum(
        element[x]                          # loop
        for x in xs
    ) + after(xs)                           # once

def made_in_a_loop(xs):
    for x in xs:
        callback = lambda: x[0].called(1)   # mixed: the lambda's own code runs once a call
        def inner():
            return x[0]                     # once
        register(inner)                     # loop

def generator(xs):
    before(xs)                              # once
    for x in xs:
        yield inside(x)                     # loop
    received = yield                        # once
    after(received)                         # once

async def awaited(xs):
    before(xs)                              # once
    async for x in xs:
        inside(x)                           # loop
        async with lock(x):
            inside(x)                       # loop
    async with lock(xs):
        attempt(xs)                         # once
    after(xs)                               # once

def matched(xs):
    for x in xs:
        match x:
            case [a, b]:
                inside(a, b)                # loop
            case {"key": c}:
                inside(c)                   # loop
            case Point(x=0):
                return x[0]                 # once: and then out
    match xs:
        case [a, *b]:
            after(a, b)                     # once
'''


HEADS = '''
def heads(xs):
    for x in made(xs):                      # once: the call, though its items are fetched in each round
        for y in made(x): inside(y)         # loop
        while more(x):                      # loop
            x = x[1:]                       # loop: there is no call
    x = [inside(y) for y in made(xs)]       # once: the inner code object has the loop
    x = xs[1:]                              # once
'''


def check_line(code, line, word):
    """A line without instructions of this code is in no loop of it."""
    assert _walk.line_is_in_loop(code, line) is (word == "loop"), (code, line)


def check_heads():
    code, = (constant for constant in compile(HEADS, "heads", "exec").co_consts if hasattr(constant, "co_code"))
    marks = {line: text.partition("#")[2].split(":")[0].strip() for line, text in enumerate(HEADS.splitlines(), 1)}
    assert len([word for word in marks.values() if word]) == 6
    for line, word in marks.items():
        if word and not ("inner code" in HEADS.splitlines()[line - 1] and sys.version_info >= (3, 12)):
            check_line(code, line, word)
    assert not _walk.line_is_in_loop(code, 1000)


def check(code, marks):
    operations = _walk.operations(code)
    checked = 0
    calls = {line for start, end, line in code.co_lines()
             if any(operation & 15 == _walk.CALL for operation in operations[start // 2:end // 2])}
    for line in calls & marks.keys():
        check_line(code, line, marks[line])
    for start, end, line in code.co_lines():
        mark = marks.get(line)
        for operation in operations[start // 2:end // 2] if mark else ():
            if operation & 15 == _walk.OTHER:  # jumps, and what else may be anywhere
                continue
            assert bool(operation & _walk.IN_LOOP) == (mark == "loop"), (code, line, operation)
            checked += 1
    return checked


def told_by_operations(code):
    """{line: is a call of it in a loop, or without calls any part}"""
    operations, found = _walk.operations(code), {}
    for start, end, line in code.co_lines():
        found.setdefault(line, []).extend(operations[start // 2:end // 2])
    calls = {line: [o for o in found[line] if o & 15 == _walk.CALL] or found[line] for line in found}
    return {line: any(o & _walk.IN_LOOP for o in calls[line]) for line in calls if line}


def check_standard_library():
    """What is told without a look at the whole code is what its operations say."""
    lines = loops = 0
    for name in ("ast", "dataclasses", "datetime", "inspect", "json/decoder", "os", "subprocess", "typing", "zipfile"):
        path = os.path.join(sysconfig.get_path("stdlib"), f"{name}.py")
        if not os.path.exists(path):  # a package in some versions
            continue
        with open(path, "rb") as file:
            module = compile(file.read(), path, "exec", dont_inherit=True)
        for code in bytecode.code_objects(module):
            for line, is_in_loop in told_by_operations(code).items():
                assert _walk.line_is_in_loop(code, line) is is_in_loop, (code, line, is_in_loop)
                lines, loops = lines + 1, loops + is_in_loop
    assert lines > 5000 and loops > 500, (lines, loops)


def lines_with(word):
    return {number for number, line in enumerate(SOURCE.splitlines(), 1)
            if line.partition("#")[2].split(":")[0].strip() == word}


def case(function, marks):
    def test():
        assert sum(check(code, marks) for code in bytecode.code_objects(function)) > 3
    return (function.co_name, test)


MODULE = compile(SOURCE, "loops", "exec")
MARKS = {line: word for word in ("loop", "once") for line in lines_with(word)}
tap.run([case(constant, MARKS) for constant in MODULE.co_consts if hasattr(constant, "co_code")] +
        [("heads", check_heads), ("standard library", check_standard_library)])
