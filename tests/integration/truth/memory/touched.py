# SPDX-License-Identifier: Apache-2.0
"""An array of 512 MB of which a part is touched (Scalene, Figure 6).

usage: touched.py PERCENT
"""

import json
import resource
import sys

import numpy as np

BYTES = 512 << 20

array = np.empty(BYTES // 8)  # ARRAY
array[:BYTES // 8 * int(sys.argv[1]) // 100] = 1
resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
print(json.dumps({"bytes": BYTES, "resident_bytes": resident}))
