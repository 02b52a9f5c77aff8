# SPDX-License-Identifier: Apache-2.0
"""Areas of the classes in scanned geological maps: each pixel is compared with each colour of the legend."""

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import harness

CATEGORY = "slice underutilization"
KIND = "load"
LEGEND = {
    "granite": (230, 60, 70), "limestone": (90, 160, 230), "sandstone": (240, 220, 90), "shale": (120, 120, 120),
    "basalt": (60, 40, 90), "alluvium": (250, 250, 210),
}


def sheet(rng, size=110):
    image = Image.new("RGB", (size, size), LEGEND["alluvium"])
    pen = ImageDraw.Draw(image)
    colours = list(LEGEND.values())
    for _ in range(14):
        points = rng.uniform(-20, size + 20, size=2) + rng.normal(0.0, 18.0, size=(7, 2))
        pen.polygon([tuple(p) for p in points], fill=colours[rng.integers(len(colours))])
    scan = np.asarray(image.filter(ImageFilter.GaussianBlur(0.8))).astype(int)
    return np.clip(scan + rng.normal(0.0, 6.0, size=scan.shape).astype(int), 0, 255)


def classify(img):
    names, result = list(LEGEND), np.zeros(img.shape[:2], dtype=int)
    for row in range(img.shape[0]):
        for col in range(img.shape[1]):
            r, g, b = img[row, col]  # waste: load
            best, closest = 0, 10**9
            for k, name in enumerate(names):
                lr, lg, lb = LEGEND[name]
                distance = (r - lr) ** 2 + (g - lg) ** 2 + (b - lb) ** 2  # waste: load
                if distance < closest:  # waste: load
                    best, closest = k, distance
            result[row, col] = best  # waste: load
    return result


def classify_fixed(img):
    colours = np.array(list(LEGEND.values()))
    difference = img[:, :, None, :] - colours
    return (difference**2).sum(axis=-1).argmin(axis=-1)


def tidy(classes):
    """Single pixels take the class of most around them."""
    votes = np.stack([Image.fromarray(np.uint8(255 * (classes == k))).filter(ImageFilter.BoxBlur(1)) for k in range(len(LEGEND))])
    return votes.argmax(axis=0)


def work(sheets, find):
    rng, found = np.random.default_rng(1815), []
    for _ in range(sheets):
        img = sheet(rng)
        clean = tidy(find(img))
        borders = (clean[1:] != clean[:-1]).sum() + (clean[:, 1:] != clean[:, :-1]).sum()
        found.append([*np.bincount(clean.ravel(), minlength=len(LEGEND)) / clean.size, borders])
    return found


if __name__ == "__main__":
    harness.main(lambda n: work(n, classify), lambda n: work(n, classify_fixed), repeats=110)
