# SPDX-License-Identifier: Apache-2.0
"""Scales, turns, filters and packs pictures; Pillow keeps memory in an arena of its own."""

import io

from without import needs

needs("PIL")
from PIL import Image, ImageFilter  # noqa: E402

picture = Image.radial_gradient("L").resize((1500, 1500)).convert("RGB")
for angle in range(0, 90, 15):
    turned = picture.rotate(angle).filter(ImageFilter.GaussianBlur(2))
    file = io.BytesIO()
    turned.save(file, format="JPEG")
print(Image.open(io.BytesIO(file.getvalue())).size, len(file.getvalue()) > 10_000)
