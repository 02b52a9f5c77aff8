# SPDX-License-Identifier: Apache-2.0
"""A record that is kept beside hundreds of small temporaries of the same line."""
# HOLDER: records

from pace import rounds

records = []

for number in rounds():
    records.append((bytearray(250_000), len(b"".join([bytes(1_000) for _ in range(500)])))[0])  # LEAK
