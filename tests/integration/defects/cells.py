# SPDX-License-Identifier: Apache-2.0
"""Runs cells as IPython does: each is compiled under a name that is no file's, and put into linecache."""

import linecache
import time

CELL = """\
import time


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:  # {mark}
        pass


work(0.15)
"""


def run_cell(name, text):
    tree = compile(text, name, "exec", 0x400)  # ast.PyCF_ONLY_AST
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    exec(compile(tree, name, "exec"), {"__name__": "__main__"})


run_cell("/tmp/ipykernel_123/456.py", CELL.format(mark="notebook"))
run_cell("<ipython-input-7-0123456789ab>", CELL.format(mark="terminal"))
