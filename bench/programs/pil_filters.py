# SPDX-License-Identifier: Apache-2.0
"""PIL: filters, resizing and JPEG in memory."""

import io

from PIL import Image, ImageFilter

from harness import run

PICTURE = Image.effect_noise((512, 512), 60).convert("RGB")


def work(repeats):
    for _ in range(repeats):
        small = PICTURE.filter(ImageFilter.GaussianBlur(3)).resize((256, 256), Image.LANCZOS)
        packed = io.BytesIO()
        small.rotate(7).save(packed, "JPEG")
        again = Image.open(io.BytesIO(packed.getvalue())).convert("L")
    return again.size, packed.tell()


run(work, 100)
