# SPDX-License-Identifier: Apache-2.0
"""Loops that only add up, count, compare or set single elements, and loops that do more: each is one of a function
below."""
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

FILLS = '''
def the_same(a, n, value):
    for i in range(n):
        a[i] = value

def a_constant_with_a_step(a, n, p):
    for i in range(p * p, n, p):
        a[i] = False

def a_row(a, y, n):
    for x in range(n):
        a[y][x] = 0

def copied(a, b, n):
    for i in range(n):
        a[i + 3] = b[i]

def copied_of_attributes(self, n):
    for i in range(n):
        self.out[i] = self.given[i]

def the_row_above(a, y, n):
    for x in range(n):
        a[y][x] = a[y - 1][x]

def two_at_once(a, b, c, n):
    for i in range(n):
        a[i] = c[i]
        b[i] = 0

def added_up_as_well(a, b, n):
    total = 0
    for i in range(n):
        total += b[i]
        a[i] = b[i]
    return total
'''

OTHERS = '''
def prefix_sums(a, b, n):
    for i in range(1, n):
        a[i] = a[i - 1] + b[i]

def running_sums(a, b, n):
    total = 0
    for i in range(n):
        total += b[i]
        a[i] = total

def the_one_before_is_copied(a, n):
    for i in range(1, n):
        a[i] = a[i - 1]

def of_the_same_row(a, y, n):
    for x in range(1, n):
        a[y][x] = a[y][x - 1]

def set_and_read(a, b, n):
    total = 0
    for i in range(1, n):
        a[i] = b[i]
        total += a[n - i]
    return total

def set_sometimes(a, b, n):
    for i in range(n):
        if b[i] > 3:
            a[i] = 0

def worked_out(a, b, n):
    for i in range(n):
        a[i] = b[i] * 2

def of_the_place(a, n):
    for i in range(n):
        a[i] = i

def squares(a, n):
    for i in range(n):
        a[i * i] = 0

def always_the_same_place(a, b, n):
    for i in range(n):
        a[0] = b[i]

def of_each_element(a, n):
    for i in range(n):
        a[i][0] = 5

def counted_by_element(a, b, n):
    for i in range(n):
        a[b[i]] = 1

def a_list_each(a, n):
    for i in range(n):
        a[i] = []

def what_was_unpacked(a, pairs, n):
    for i, value in pairs:
        a[i] = value

def rows_of_rows(a, n):
    for y in range(n):
        row = a[y]
        row[0] = 0
'''

OTHERS_OF_FOLDS = '''
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


FOLD, FILL = _walk.IN_FOLD, _walk.IN_FILL


def kinds(code):
    return {operation & (FOLD | FILL) for operation in _walk.operations(code)} - {0}


def case(code, expected):
    def test():
        assert kinds(code) == expected, code
    return (code.co_name, test)


def functions(source):
    return [code for code in compile(source, "folds", "exec").co_consts if hasattr(code, "co_code")]


tap.run([case(code, expected) for source, expected in ((FOLDS, {FOLD}), (FILLS, {FILL}), (OTHERS, set()),
                                                       (OTHERS_OF_FOLDS, set())) for code in functions(source)])
