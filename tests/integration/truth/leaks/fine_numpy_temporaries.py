# SPDX-License-Identifier: Apache-2.0
"""Array expressions with large temporaries; what is kept is as large as ever."""

import numpy as np
from pace import rounds

state = np.zeros(500_000)

for number in rounds():
    scaled = state * 0.9 + np.sin(state) * 0.1
    state = np.where(scaled > 1, 1, scaled + 0.01)
    history = [state[::1000].copy()]
