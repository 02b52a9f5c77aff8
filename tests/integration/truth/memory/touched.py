# SPDX-License-Identifier: Apache-2.0
"""An array of 512 MB of which a part is touched (Scalene, Figure 6).

usage: touched.py PERCENT
"""

import json
import sys

import numpy as np

BYTES = 512 << 20

array = np.empty(BYTES // 8)  # ARRAY
array[:BYTES // 8 * int(sys.argv[1]) // 100] = 1
# Not ru_maxrss: that is at least what the process that started this one had, since it survives execve(2).
with open("/proc/self/status") as status:
    resident = next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))
print(json.dumps({"bytes": BYTES, "resident_bytes": resident}))
