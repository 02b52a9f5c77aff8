# SPDX-License-Identifier: Apache-2.0
"""A fiftieth of what the program allocates stays, for five seconds."""
# HOLDER: seen
# LEAKED: 10e6

import os

os.environ.setdefault("SECONDS", "5")

from pace import rounds  # noqa: E402

seen = []

for number in rounds():
    seen.append(bytes(20_000))  # LEAK
