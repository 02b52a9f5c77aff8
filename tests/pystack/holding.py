# SPDX-License-Identifier: Apache-2.0
"""Asking who holds a block, for the scripts that retention_host runs."""
import ctypes

import _retention

BUDGET_NS = 60 * 10**9
TEXT_BYTES = 512
POINTER = ctypes.sizeof(ctypes.c_void_p)


def blocks_of(things):
    return [_retention.block_of(thing) for thing in things]


def ask(blocks, budget_ns=BUDGET_NS, size=TEXT_BYTES):
    """(result, text, CPU time in ns): another process may have the processor while the time passes."""
    return _retention.find(blocks, budget_ns, size)


def found(blocks):
    code, text, _ = ask(blocks)
    assert code == 0, (code, text)
    return text


def check(blocks, expected):
    """blocks: never the objects themselves, which would be locals of this frame."""
    text = found(blocks)
    assert text == expected, text
