# SPDX-License-Identifier: Apache-2.0
"""sys.exit with a text, after text on both streams and with atexit functions."""
import atexit
import sys

atexit.register(print, "at exit")
print("out")
print("err", file=sys.stderr)
sys.exit("the end")
