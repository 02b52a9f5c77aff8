# SPDX-License-Identifier: Apache-2.0
"""Errors in __del__, in callbacks, in atexit; warnings."""
import atexit
import warnings
import weakref


class Broken:
    def __del__(self):
        raise ValueError("in __del__")


thing = Broken()
reference = weakref.ref(thing, lambda _: 1 / 0)
del thing
warnings.warn("careful")
atexit.register(lambda: [].pop())
