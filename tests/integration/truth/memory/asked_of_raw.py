# SPDX-License-Identifier: Apache-2.0
"""Native code that asks Python's RAW domain in place of malloc(), as newer releases of NumPy do, beside Python."""

import ctypes
import json

BYTES = 40_000_000
ctypes.pythonapi.PyMem_RawMalloc.argtypes = [ctypes.c_size_t]
ctypes.pythonapi.PyMem_RawMalloc.restype = ctypes.c_void_p
ctypes.pythonapi.PyMem_RawFree.argtypes = [ctypes.c_void_p]

block = ctypes.pythonapi.PyMem_RawMalloc(BYTES)  # NATIVE
kept = bytearray(BYTES)  # PYTHON
ctypes.pythonapi.PyMem_RawFree(block)
print(json.dumps({"bytes": BYTES}))
