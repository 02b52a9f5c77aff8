# SPDX-License-Identifier: Apache-2.0
"""Sleeps at two lines."""

import json
import time

began = time.perf_counter()
time.sleep(1.2)  # long
between = time.perf_counter()
time.sleep(0.8)  # short
print(json.dumps({"long": between - began, "short": time.perf_counter() - between}))
