# SPDX-License-Identifier: Apache-2.0
"""Calls of Python functions by Python functions."""

from harness import run


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


run(lambda repeats: [fib(24) for _ in range(repeats)][-1], 620)
