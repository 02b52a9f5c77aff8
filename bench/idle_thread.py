# SPDX-License-Identifier: Apache-2.0
"""Runs a program beside a thread that sleeps until the end, or without it, after the same imports.

usage: idle_thread.py beside|alone PROGRAM [ARGUMENT]...
"""

import pathlib
import runpy
import sys
import threading

del sys.argv[0]
if sys.argv.pop(0) == "beside":
    threading.Thread(target=threading.Event().wait, daemon=True).start()
sys.path[0] = str(pathlib.Path(sys.argv[0]).parent)
runpy.run_path(sys.argv[0], run_name="__main__")
