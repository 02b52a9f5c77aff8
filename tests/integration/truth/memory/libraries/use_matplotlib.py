# SPDX-License-Identifier: Apache-2.0
"""Draws and writes a picture."""

import io

from without import needs

matplotlib = needs("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

for _ in range(3):
    figure, axes = pyplot.subplots()
    axes.plot([n * n % 97 for n in range(500)])
    axes.set_title("some text")
    file = io.BytesIO()
    figure.savefig(file, format="png")
    pyplot.close(figure)
print(file.getvalue()[:4], len(file.getvalue()) > 10_000)
