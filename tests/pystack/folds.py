# SPDX-License-Identifier: Apache-2.0
"""Loops that only add up, count or compare single elements, and loops that do more: each is one of a function below."""
import _walk
import tap

FOLDS = '''
def added(a, n):
    total = 0
    for i in range(n):
        total += a[i]
    return total

def added_in_one_line(a, n):
    total = 0
    for i in range(n): total += a[i]
    return total

def added_at_another_place(a, n):
    total = 0
    for i in range(n):
        total = total + a[i * 2 + 1]
    return total

def added_by_a_name(a, n):
    total = 0
    for i in range(n):
        element = a[i]
        total += element
    return total

def counted(a, n, limit):
    count = 0
    for i in range(n):
        if a[i] == limit:
            count += 1
    return count

def counted_of_many(a, n):
    count = 0
    for i in range(n):
        if a[i] in "GC":
            count += 1
    return count

def counted_if_true(a, n):
    count = 0
    for i in range(n):
        if a[i]:
            count += 1
    return count

def greatest(a, n):
    most = 0
    for i in range(n):
        if a[i] > most:
            most = a[i]
    return most

def two_at_a_time(a, b, n):
    total, most = 0, 0
    for i in range(n):
        total += a[i]
        if b.items[i] > most:
            most = b.items[i]
    return total, most

def passed_over(a, n):
    total = 0
    for i in range(n):
        if a[i] < 0:
            continue
        total += a[i]
    return total

def nested(a, n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += a[i][j]
    return total
'''

OTHERS = '''
def called(a, n):
    total = 0
    for i in range(n):
        total += len(a[i])
    return total

def a_method(a, n):
    total = 0
    for i in range(n):
        total += a.at(i)
    return total

def recurrence(a, n):
    x = 0
    for i in range(n):
        x = x * 2 + a[i]
    return x

def a_limit_that_is_counted_up(a, n):
    most = 0
    for i in range(n):
        if a[i] > most:
            most += 1
    return most

def written(a, n):
    for i in range(n):
        a[i] = 0

def no_element(a, n):
    total = 0
    for i in range(n):
        total += i
    return total

def the_one_before(a, n):
    last, changes = None, 0
    for i in range(n):
        if a[i] != last:
            changes += 1
        last = a[i]
    return changes

def of_a_former_round(a, n, limit):
    total, kept = 0, 0
    for i in range(n):
        if a[i] < limit:
            continue
        kept = a[i]
        if a[i] > limit:
            total += kept
    return total + kept

def in_either_case(a, n, limit):
    total, kept, count = 0, 0, 0
    for i in range(n):
        if a[i] > limit:
            count += 1
        else:
            kept = a[i]
        total += kept
    return total + count

def ended_early(a, n):
    total = 0
    for i in range(n):
        if a[i] < 0:
            break
        total += a[i]
    return total
'''


def is_fold(code):
    return any(operation & _walk.IN_FOLD for operation in _walk.operations(code))


def case(code, expected):
    def test():
        assert is_fold(code) == expected, code
    return (code.co_name, test)


def functions(source):
    return [code for code in compile(source, "folds", "exec").co_consts if hasattr(code, "co_code")]


tap.run([*(case(code, True) for code in functions(FOLDS)), *(case(code, False) for code in functions(OTHERS))])
