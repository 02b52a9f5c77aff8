# SPDX-License-Identifier: Apache-2.0
"""Runs a program beside a thread that sleeps until the end.

usage: idle_thread.py PROGRAM [ARGUMENT]...
"""

import pathlib
import runpy
import sys
import threading

del sys.argv[0]
sys.path[0] = str(pathlib.Path(sys.argv[0]).parent)
threading.Thread(target=threading.Event().wait, daemon=True).start()
runpy.run_path(sys.argv[0], run_name="__main__")
