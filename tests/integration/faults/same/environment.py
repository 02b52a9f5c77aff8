# SPDX-License-Identifier: Apache-2.0
"""The environment, arguments and paths that a program sees."""
import os
import sys
import time

print({k: v for k, v in sorted(os.environ.items())})
print(sys.argv, sys.flags, sys.executable, sys.prefix, sys.path, sys._xoptions, sys.warnoptions)
while time.thread_time() < 0.2:
    pass
print(len(sys.modules), sorted(sys.modules) == sorted(set(sys.modules)), "pieprof" in sys.modules)
