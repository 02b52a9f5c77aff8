# SPDX-License-Identifier: Apache-2.0
"""Python's own limit comes at the same depth."""
import sys


def again(n):
    depths[0] = n
    return again(n + 1)


def through_c(n):
    depths[0] = n
    return list(map(through_c, [n + 1]))


depths = [0]
for function in (again, through_c):
    try:
        function(1)
    except RecursionError as error:
        print(function.__name__, depths, error)
print(sys.getrecursionlimit())
