# SPDX-License-Identifier: Apache-2.0
"""The charts of the page, by matplotlib: SVG files beside it. Each takes the data of all stages and gives a figure, or
None where nothing was measured of it."""

import collections

import figures
import interval
from columns import BASELINE, PIEPROF

OURS_COLOUR, PEER_COLOUR, PLAIN_COLOUR = "#1f5fa8", "#b5651d", "#8a8a8a"
COSTS = {"work_s": "the work's time", "cpu_s": "CPU of the process", "peak_mb": "peak memory"}


def colour(name):
    return OURS_COLOUR if name in PIEPROF else PLAIN_COLOUR if name == BASELINE or name.startswith("embedder") else PEER_COLOUR


def new(columns, rows, width, height):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def spread(found):
    """Of (middle, low, high): the middle, and how far the interval reaches below and above."""
    middle, low, high = found
    return middle, (middle - low, high - middle) if low is not None else (0, 0)


def overhead(found):
    """Median ratios to python3 of each column, over the programs of the two large stages."""
    some = figures.programs(found)
    names = [name for name in dict.fromkeys(name for columns in some.values() for name in columns) if name != BASELINE]
    if not names:
        return None
    figure, ((*axes,),) = new(len(COSTS), 1, 11, 1.2 + 0.24 * len(names))
    for axis, (key, title) in zip(axes, COSTS.items()):
        for row, name in enumerate(names):
            values = figures.over_programs(some, name, BASELINE, key)
            if values:
                middle, reach = spread(interval.median(values))
                axis.barh(row, middle - 1, left=1, color=colour(name), xerr=[[reach[0]], [reach[1]]], error_kw={"lw": 0.8})
                axis.annotate(f" {middle:.2f}", (max(middle + reach[1], 1), row), va="center", fontsize=7)
        axis.set(xscale="log", title=f"{title} / {BASELINE}", yticks=range(len(names)))
        axis.set_yticklabels(names if axis is axes[0] else [], fontsize=8)
        axis.set_ylim(len(names) - 0.4, -0.6)
        axis.margins(x=0.15)
        ticks = [tick for tick in (0.5, 0.8, 1, 1.3, 2, 3, 5, 10, 20, 50) if axis.get_xlim()[0] <= tick <= axis.get_xlim()[1]]
        axis.set_xticks(ticks, [f"{tick:g}" for tick in ticks], fontsize=7)
        axis.minorticks_off()
        axis.axvline(1, color="black", lw=0.8)
    return figure


def programs(found):
    """The work's ratio of each program: pieprof governed and fixed, and the peers that sample."""
    some = figures.programs(found)
    names = [name for name in (figures.OFF, figures.OURS, figures.FIXED, "py-spy", "Scalene", "memray")
             if any(columns.get(name) for columns in some.values())]  # fmt: skip
    if not names:
        return None
    figure, ((axis,),) = new(1, 1, 9, 4)
    for name, marker in zip(names, "osD^vx"):
        points = [(number, value) for number, columns in enumerate(some.values())
                  if (value := figures.of_program(columns, name, BASELINE, "work_s")) is not None]  # fmt: skip
        axis.plot(*zip(*points), marker, label=name, ms=6) if points else None
    axis.axhline(1, color="black", lw=0.8)
    axis.set(yscale="log", title=f"the work's time / {BASELINE}, by program")
    ticks = [tick for tick in (0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20) if axis.get_ylim()[0] <= tick <= axis.get_ylim()[1]]
    axis.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.minorticks_off()
    axis.set_xticks(range(len(some)), list(some), rotation=30, ha="right", fontsize=8)
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def bias(found):
    """Points that a function's share is told too high, over its true share of the chunks."""
    lines = collections.defaultdict(list)
    for name, step in found.get("truth", {}).get("steps", {}).items():
        if name.startswith("function bias"):
            percent = int(name.split()[-2])
            for column, row in step["rows"].items():
                if mean := figures.mean_points(row):
                    lines[column].append((percent, *spread(mean)))
    if not lines:
        return None
    figure, ((axis,),) = new(1, 1, 8, 3.5)
    for (column, points), style in zip(lines.items(), ("o-", "s--", "^-.", "D:", "v-", "x--")):
        percents, means, reach = zip(*sorted(points))
        axis.errorbar(percents, means, [*zip(*reach)], fmt=style, label=column, ms=4, elinewidth=0.8)
    axis.axhline(0, color="black", lw=0.8)
    axis.set(title="function bias: a function that calls a helper", xlabel="its part of the chunks, %", ylabel="points told too many")
    axis.legend(fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    return figure


def scaling(found):
    """CPU time and peak memory beyond python3's, over the size."""
    kinds = figures.scaling(found.get("scaling", {}).get("steps", {}))
    kinds = {kind: sizes for kind, sizes in kinds.items() if sizes}
    if not kinds:
        return None
    figure, rows = new(len(kinds), 2, 1.8 * len(kinds), 4)
    for number, (kind, sizes) in enumerate(kinds.items()):
        ns = [size.n for size in sizes]
        for axis, values, title in ((rows[0][number], [size.cpu_ratio for size in sizes], f"CPU / {BASELINE}"),
                                    (rows[1][number], [size.more_mb for size in sizes], f"MB beyond {BASELINE}")):  # fmt: skip
            axis.plot(ns, values, "o-", color=OURS_COLOUR, ms=4)
            axis.set(xscale="log" if ns[0] > 0 and ns[-1] / ns[0] > 20 else "linear", ylim=(0, 1.15 * max(*values, 1)))
            axis.set_title(title if number == 0 else "", fontsize=8, loc="left")
            axis.tick_params(labelsize=7)
        rows[1][number].set_xlabel(kind, fontsize=9)
    return figure


def hour(found):
    """Resident memory and the file over a long run."""
    looks = [look for step in found.get("hour", {}).get("steps", {}).values() for look in step["rows"]]
    if not looks:
        return None
    figure, ((*axes,),) = new(2, 1, 8, 3)
    for axis, key, title in zip(axes, ("rss_mb", "file_mb"), ("resident memory, MB", "file, MB")):
        axis.plot([look["s"] / 60 for look in looks], [look[key] for look in looks], color=OURS_COLOUR)
        axis.set(title=title, xlabel="minutes", ylim=(0, 1.15 * max(look[key] for look in looks)))
    return figure


CHARTS = {"overhead": overhead, "programs": programs, "bias": bias, "scaling": scaling, "hour": hour}
TITLES = {"overhead": "Costs of each column, medians over the programs with intervals of 95 %", "programs": "The work's time by program",
          "bias": "Function bias", "scaling": "Scaling", "hour": "One long run"}  # fmt: skip


def draw(found, folder):
    """Writes what can be drawn into the folder; ({chart: its file's name}, why there is none)."""
    try:
        import matplotlib
    except ImportError as error:
        return {}, f"matplotlib cannot be imported: {error}"
    matplotlib.rcParams["svg.hashsalt"] = "pieprof"  # the same data are the same file
    drawn = {}
    for name, chart in CHARTS.items():
        path = folder / f"{name}.svg"
        path.unlink(missing_ok=True)
        if figure := chart(found):
            figure.savefig(path, metadata={"Date": None})
            drawn[name] = path.name
    return drawn, "" if drawn else "nothing was measured"
