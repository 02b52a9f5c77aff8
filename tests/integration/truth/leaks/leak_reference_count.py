# SPDX-License-Identifier: Apache-2.0
"""An extension that takes a reference and never gives it back: nothing that Python can see holds the object."""

import ctypes

from pace import rounds

take_reference = ctypes.pythonapi.Py_IncRef
take_reference.argtypes = [ctypes.py_object]

for number in rounds():
    for _ in range(10):
        block = bytearray(25_000)  # LEAK
        take_reference(block)
