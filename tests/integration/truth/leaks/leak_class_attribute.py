# SPDX-License-Identifier: Apache-2.0
"""A list meant for each object is the class's, so it outlives the objects."""
# HOLDER: Session

from pace import rounds


class Session:
    history = []

    def measure(self, values):
        self.history.append([0.5] * values)  # LEAK


for number in rounds():
    for _ in range(10):
        Session().measure(3_000)
