# SPDX-License-Identifier: Apache-2.0
"""needs("torch"): the module, or an end with status 77 where it is not installed."""

import importlib
import sys


def needs(name):
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        print(missing)
        sys.exit(77)
