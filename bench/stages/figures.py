# SPDX-License-Identifier: Apache-2.0
"""From the data of stages to figures: ratios by column, goals, and where a peer is better."""

import dataclasses
import statistics

import interval
import measure
import overhead_truth
from columns import BASELINE, BASELINES, PEERS

OURS, OFF, TIME, FIXED = "pieprof all governed", "pieprof off", "pieprof time", "pieprof all fixed"
COSTS = {"work_s": "work", "wall_s": "whole process", "cpu_s": "CPU", "peak_mb": "peak memory", "written_mb": "MB written"}


def programs(found, stages=("python", "native")):
    """{program: {column: rounds}} of these stages; absent programs are left out."""
    rows = {name: step["rows"] for stage in stages for name, step in found.get(stage, {}).get("steps", {}).items()}
    return {name: row["columns"] for name, row in rows.items() if "columns" in row}


def of_program(columns, name, baseline, key):
    """The median ratio of its rounds, or None where one of both has no figure. A peer with a Python of its own is
    compared with that."""
    values = measure.ratios(columns, name, BASELINES.get(name, baseline), key)
    return statistics.median(values) if values else None


def beyond(columns, name, baseline, key):
    """The median of what a column takes more in a round, or None."""
    pairs = zip(columns.get(name, []), columns.get(baseline, []))
    values = [ours[key] - theirs[key] for ours, theirs in pairs if key in ours and key in theirs]
    return statistics.median(values) if values else None


def over_programs(some, name, baseline, key):
    """One value for each program that has it. What is written has no baseline: megabytes."""
    if key == "written_mb":
        values = [[run[key] for run in columns.get(name, []) if key in run] for columns in some.values()]
        return [statistics.median(value) for value in values if value]
    values = [of_program(columns, name, baseline, key) for columns in some.values()]
    return [value for value in values if value is not None]


@dataclasses.dataclass(frozen=True)
class Goal:
    what: str
    baseline: str
    limit: float
    unit: str
    values: object  # (found) -> the values, whose median or worst is compared; with is_figure, (median, low, high)
    is_worst: bool = False
    is_figure: bool = False


def ratio(name, baseline, key="work_s"):
    return lambda found: over_programs(programs(found), name, baseline, key)


def extra_ms(found):
    """Of each program the whole process's excess over off, less 5 % of its work."""
    values = []
    for columns in programs(found).values():
        pairs = [(a, b) for a, b in zip(columns.get(OURS, []), columns.get(OFF, [])) if "failed" not in a and "failed" not in b]
        values += [1e3 * statistics.median(a["wall_s"] - b["wall_s"] - 0.05 * b["work_s"] for a, b in pairs)] if pairs else []
    return values


def extra_mb(found):
    """Of each program the peak memory beyond 1.05 times python3's."""
    values = []
    for columns in programs(found).values():
        pairs = [(a, b) for a, b in zip(columns.get(OURS, []), columns.get(BASELINE, [])) if "failed" not in a and "failed" not in b]
        values += [statistics.median(a["peak_mb"] - 1.05 * b["peak_mb"] for a, b in pairs)] if pairs else []
    return values


def mean_points(row):
    """(mean, low, high) of the points by which the runs of a row of the truth are off; None if they failed."""
    return interval.mean(row.get("each", [row["points"]])) if "points" in row else None


def points(found, what):
    """[(mean, low, high)] by how many points pieprof is wrong in each step of the truth whose name begins so."""
    steps = found.get("truth", {}).get("steps", {})
    means = [mean_points(step["rows"].get(OURS, {})) for name, step in steps.items() if name.startswith(what)]
    return [interval.size(mean) for mean in means if mean]


def bias(found):
    """That of the step whose mean is the worst."""
    return max(points(found, "function bias"), key=lambda figure: figure[0], default=None)


def leaks(found):
    return max(points(found, "leaks"), key=lambda figure: figure[0], default=None)


def budgets(found):
    """All runs of the stage of the budget."""
    steps = found.get("budget", {}).get("steps", {})
    return [run for name, step in steps.items() if name.startswith("kept") for run in step["rows"]]


def beyond_budget(found):
    """Percent of the runs whose printed overhead, without start and end, is more than a point above the budget."""
    runs = budgets(found)
    return [100 * sum(run["without"] > run["budget"] + 1 for run in runs) / len(runs)] if runs else []


def wrong_share(found):
    """By how much the printed overhead is wrong, as (middle, low, high) of what it may be, in percent of that: of the
    program that says least for it."""
    steps = found.get("budget", {}).get("steps", {})
    rows = [step["rows"] for name, step in steps.items() if name.startswith("true")]
    shares = [[100 * row[key] / overhead_truth.goal_s(row["bare_s"]) for key in ("wrong_s", "low_s", "high_s")] for row in rows]
    return max((interval.size(share) for share in shares), key=lambda share: share[2], default=None)


def start(text):
    """Milliseconds above python3 of each start."""
    def values(found):
        times = found.get("start", {}).get("steps", {}).get(text, {}).get("rows", {})
        return [1e3 * (a - b) for a, b in zip(times.get(OURS, []), times.get(BASELINE, []))]
    return values


GOALS = (
    Goal("time only, fixed: work", OFF, 1.01, "", ratio(TIME, OFF)),
    Goal("time only, fixed: work, worst", OFF, 1.03, "", ratio(TIME, OFF), True),
    Goal("everything governed: work", OFF, 1.05, "", ratio(OURS, OFF)),
    Goal("everything governed: work, worst", OFF, 1.08, "", ratio(OURS, OFF), True),
    Goal("everything governed: whole process beyond 5 % of the work", OFF, 50, "ms", extra_ms),
    Goal("everything fixed: work", BASELINE, 1.08, "", ratio(FIXED, BASELINE)),
    Goal("everything fixed: work, worst", BASELINE, 1.15, "", ratio(FIXED, BASELINE), True),
    Goal("off: work", BASELINE, 1.05, "", ratio(OFF, BASELINE)),
    Goal("runs beyond their budget and a point", "", 5, "%", beyond_budget, True),
    Goal("printed overhead, wrong by this part of 1.5 points or 10 ms, worst", "measured", 100, "%", wrong_share, is_figure=True),
    Goal("peak memory beyond 1.05 times", BASELINE, 8, "MB", extra_mb, True),
    Goal("function bias, worst", "the truth", 1, "points", bias, is_figure=True),
    Goal("leaked bytes, wrong by", "the truth", 5, "points", leaks, is_figure=True),
    Goal("start and end of -c pass", BASELINE, 25, "ms", start("-c pass")),
    Goal("a child by subprocess and its parent", BASELINE, 35, "ms", start("a child by subprocess")),
    Goal("start and end with NumPy", BASELINE, 50, "ms", start("import numpy")),
)


def judged(goal, found):
    """(the figure as text, verdict). The worst of several programs has no interval."""
    values = goal.values(found)
    if not values:
        return "", "not measured"
    if goal.is_figure:
        figure = values
    else:
        figure = (max(values), None, None) if goal.is_worst else interval.median(values)
    return f"{interval.text(figure, '{:.3f}' if not goal.unit else '{:.1f}')} {goal.unit}".strip(), interval.verdict(figure, goal.limit)


FLAT_MB, FLAT_RATIO = 8, 0.05  # what may grow


@dataclasses.dataclass(frozen=True)
class Size:
    n: int
    wall_ratio: float
    cpu_ratio: float
    mb_ratio: float
    more_cpu_s: float  # than python3
    more_mb: float


def scaling(steps):
    """{kind: [Size of each that has figures, the smallest first]}"""
    kinds = {}
    for what, step in steps.items():
        columns = step["rows"]["columns"]
        ratios = [of_program(columns, OURS, BASELINE, key) for key in ("wall_s", "cpu_s", "peak_mb")]
        more = [beyond(columns, OURS, BASELINE, key) for key in ("cpu_s", "peak_mb")]
        sizes = kinds.setdefault(what.rpartition(" ")[0], [])
        sizes += [Size(step["rows"]["size"], *ratios, *more)] if None not in (*ratios, *more) else []
    return {kind: sorted(sizes, key=lambda size: size.n) for kind, sizes in kinds.items()}


def not_flat(kinds):
    """[(kind, from, to, what grew)]: memory that is beyond python3's, or CPU time as a ratio to it, against the
    smallest size. Costs at the start make the ratio of a short run large, so one that falls is flat."""
    rows = []
    for kind, sizes in kinds.items():
        for size in sizes[1:]:
            grown = []
            if size.more_mb - sizes[0].more_mb > FLAT_MB:
                grown.append(f"memory beyond {BASELINE} from {sizes[0].more_mb:.1f} to {size.more_mb:.1f} MB")
            least = min(other.cpu_ratio for other in sizes if other.n < size.n)
            if size.cpu_ratio - least > FLAT_RATIO:
                grown.append(f"CPU / {BASELINE} from {least:.2f} to {size.cpu_ratio:.2f}")
            rows += [(kind, sizes[0].n, size.n, "; ".join(grown))] if grown else []
    return rows


def worse(found):
    """[(measure, peer, its median, ours)] where a peer is better, the work first, then the greatest distance. Over the
    programs that both have run."""
    all_rows = []
    for key, title in COSTS.items():
        rows = []
        for peer in PEERS:
            both = {name: columns for name, columns in programs(found).items()
                    if over_programs({name: columns}, peer, BASELINE, key) and over_programs({name: columns}, OURS, BASELINE, key)}
            if both:
                theirs, ours = (statistics.median(over_programs(both, one, BASELINE, key)) for one in (peer, OURS))
                rows += [(title, peer, theirs, ours)] if ours > theirs else []
        all_rows += sorted(rows, key=lambda row: row[3] / max(row[2], 1e-9), reverse=True)
    return all_rows
