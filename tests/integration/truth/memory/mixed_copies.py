# SPDX-License-Identifier: Apache-2.0
"""Small copies of two lines by turns: which of them copies how much is known, which one a sample meets is chance.

usage: mixed_copies.py COUNT
"""

import json
import sys

data = bytes(1 << 20)
count = int(sys.argv[1])

for start in range(count):
    a = data[start & 65535:(start & 65535) + 900]  # three tenths
    b = data[start & 65535:(start & 65535) + 2_100]  # seven tenths
print(json.dumps({"three tenths": count * 900, "seven tenths": count * 2_100}))
