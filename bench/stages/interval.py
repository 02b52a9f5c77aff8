# SPDX-License-Identifier: Apache-2.0
"""The median or mean of a few values with a bootstrap interval, and the verdict on a goal."""

import random
import statistics

DRAWS, CONFIDENCE = 2000, 0.95


def of(statistic, values, draws):
    values = list(values)
    middle = statistic(values)
    if len(values) < 3:
        return middle, None, None
    draw = random.Random(1)
    drawn = sorted(statistic(draw.choices(values, k=len(values))) for _ in range(draws))
    cut = round(draws * (1 - CONFIDENCE) / 2)
    return middle, drawn[cut], drawn[-1 - cut]


def median(values, draws=DRAWS):
    """(median, low, high): the interval of 95 % by bootstrap. Of fewer than three values there is none: None."""
    return of(statistics.median, values, draws)


def mean(values, draws=DRAWS):
    """As median(). An estimate is unbiased if its mean is true: where few samples are heavy, its median is lower."""
    return of(statistics.fmean, values, draws)


def size(found):
    """The interval of the amount of a figure that may be below zero."""
    middle, low, high = found
    if low is None:
        return abs(middle), None, None
    return abs(middle), 0.0 if low <= 0 <= high else min(abs(low), abs(high)), max(abs(low), abs(high))


def verdict(found, limit):
    """Of a goal "at most": met or missed by the whole interval, else open. Without an interval the median decides."""
    middle, low, high = found
    if low is None:
        return "met" if middle <= limit else "missed"
    if high <= limit:
        return "met"
    return "missed" if low > limit else "open"


def text(found, form="{:.3f}"):
    middle, low, high = found
    whole = form.format(middle)
    return whole if low is None else f"{whole} ({form.format(low)}–{form.format(high)})"
