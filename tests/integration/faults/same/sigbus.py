# SPDX-License-Identifier: Apache-2.0
"""A mapping behind the end of its file."""
import mmap
import tempfile
import time

with tempfile.TemporaryFile() as file:
    file.truncate(2 * mmap.PAGESIZE)
    view = mmap.mmap(file.fileno(), 2 * mmap.PAGESIZE)
    file.truncate(0)
    while time.thread_time() < 0.2:
        pass
    print(view[mmap.PAGESIZE])
