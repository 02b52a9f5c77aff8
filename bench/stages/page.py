# SPDX-License-Identifier: Apache-2.0
"""The page: Markdown of all data files. What is worse than a peer stands first."""

import statistics

import figures
import interval
from columns import BASELINE

TITLES = {"python": "Overhead: pyperformance's programs", "native": "Overhead: programs with native libraries",
          "short": "Overhead: short runs (0.2 s)", "long": "Overhead: long runs (60 s)"}  # fmt: skip


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |" for row in rows])


def names_of(some):
    """The columns in their order, once each."""
    return list(dict.fromkeys(name for columns in some.values() for name in columns))


def overhead(found, stage):
    """Medians over the programs for each column, then each program's ratio of work."""
    some = figures.programs(found, (stage,))
    header = ["", *(f"{title} / {BASELINE}" if key != "written_mb" else title for key, title in figures.COSTS.items()), "work, worst",
              "programs"]  # fmt: skip
    rows = []
    for name in names_of(some):
        values = {key: figures.over_programs(some, name, BASELINE, key) for key in figures.COSTS}
        cells = [interval.text(interval.median(value), "{:.2f}") if value else "failed" for value in values.values()]
        rows.append([name, *cells, f"{max(values['work_s']):.2f}" if values["work_s"] else "", len(values["work_s"])])
    each = []
    for program, columns in some.items():
        ratios = [figures.of_program(columns, name, BASELINE, "work_s") for name in names_of(some)]
        each.append([program, *(f"{value:.2f}" if value is not None else "–" for value in ratios)])
    return f"{table(header, rows)}\n\nRatios of the work:\n\n{table(['program', *names_of(some)], each)}"


def collectors(steps):
    """By turns: the median ratio of the work's CPU time to off's over all turns."""
    rows = []
    for program, step in steps.items():
        off = step["rows"][figures.OFF]
        ratios = {name: [a[1] / b[1] for a, b in zip(turns, off) if b[1]] for name, turns in step["rows"].items()}
        rows += [[program, name, interval.text(interval.median(values))] for name, values in ratios.items()]
    return table(["program", "column", f"CPU of the work / {figures.OFF}"], rows)


def truth(steps):
    rows = [[what, name, f"{row['points']:+.2f}" if "points" in row else "failed"]
            for what, step in steps.items() for name, row in step["rows"].items()]  # fmt: skip
    return table(["truth", "column", "points off"], rows)


def scaling(steps):
    rows = []
    for what, step in steps.items():
        columns = step["rows"]["columns"]
        cells = []
        for key in ("wall_s", "cpu_s", "peak_mb"):
            value = figures.of_program(columns, figures.OURS, BASELINE, key)
            cells.append(f"{value:.2f}" if value is not None else "failed")
        rows.append([what, *cells])
    ratios = table(["", *(f"{name}, governed / {BASELINE}" for name in ("whole process", "CPU", "peak memory"))], rows)
    each = table(["", "from", "to", "CPU, us", "peak memory, kB"], scaling_slopes(steps))
    return f"{ratios}\n\nWhat each one more costs beyond {BASELINE}, between two sizes:\n\n{each}"


def scaling_slopes(steps):
    """Rows of two sizes that follow each other: flat costs have the same figures in all rows of a kind."""
    kinds, rows = {}, []
    for what, step in steps.items():
        more = [figures.beyond(step["rows"]["columns"], figures.OURS, BASELINE, key) for key in ("cpu_s", "peak_mb")]
        if None not in more:
            kinds.setdefault(what.rpartition(" ")[0], []).append((step["rows"]["size"], *more))
    for kind, sizes in kinds.items():
        for (n, cpu_s, mb), (more_n, more_cpu_s, more_mb) in zip(sorted(sizes), sorted(sizes)[1:]):
            each = more_n - n
            rows.append([kind, n, more_n, f"{1e6 * (more_cpu_s - cpu_s) / each:.1f}", f"{1e3 * (more_mb - mb) / each:.2f}"])
    return rows


def start(steps):
    rows = []
    for what, step in steps.items():
        for name, times in step["rows"].items():
            more = [1e3 * (a - b) for a, b in zip(times, step["rows"][BASELINE])]
            rows.append([what, name, f"{1e3 * statistics.median(times):.1f}", interval.text(interval.median(more), "{:+.1f}")])
    return table(["", "column", "ms", f"more than {BASELINE}, ms"], rows)


def answers(steps):
    rows = []
    for step in steps.values():
        for name, costs in step["rows"]["questions"].items():
            rows.append([name, *(f"{1e3 * statistics.median(cost[key] for cost in costs):.0f}" for key in ("wall_s", "cpu_s"))])
        rows += [[f"{name}, kB", f"{step['rows'][f'{name}_bytes'] / 1e3:.0f}", ""] for name in ("profile", "page")]
    return table(["", "wall ms", "CPU ms"], rows)


def detection(steps):
    rows = []
    for name, step in steps.items():
        found = step["rows"]
        if "failed" in found:
            rows.append([name, "", "", "failed", ""])
            continue
        verdict = found["verdicts"][0]
        right = "right" if verdict["is_category_right"] else "wrong" if verdict["rank"] else ""
        rows.append([name, found["category"] or "clean", verdict["rank"] or "", right, verdict["severities"].get("high", 0)])
    return table(["program", "true category", "rank of the true line", "category", "high findings, all"], rows)


def failures(found):
    """What has no figure, and why: the first line."""
    rows = [(stage, name, column, runs[-1]["failed"].splitlines()[0] if runs[-1]["failed"] else "")
            for stage in TITLES for name, columns in figures.programs(found, (stage,)).items()
            for column, runs in columns.items() if runs and "failed" in runs[-1]]  # fmt: skip
    absent = [(stage, name, "", step["rows"]["absent"]) for stage in TITLES for name, step in found.get(stage, {}).get("steps", {}).items()
              if "absent" in step["rows"]]  # fmt: skip
    return [*absent, *rows]


def provenance(found):
    rows = [[name, one["facts"]["tree"], one.get("date", ""), one["facts"]["machine"], "yes" if one["is_done"] else "not yet",
             f"{sum(step['took_s'] for step in one['steps'].values()) / 60:.1f}"] for name, one in found.items()]  # fmt: skip
    return table(["stage", "tree", "date", "machine", "done", "minutes"], rows)


def worse(found):
    rows = [[title, peer, f"{theirs:.2f}", f"{ours:.2f}"] for title, peer, theirs, ours in figures.worse(found)]
    if not rows:
        return "Nothing in the stages measured, or no peer was measured."
    return table(["", "peer", "its median", f"{figures.OURS}"], rows)


def goals(found):
    rows = [[goal.what, goal.baseline, f"≤ {goal.limit:g} {goal.unit}".strip(), *figures.judged(goal, found)] for goal in figures.GOALS]
    return table(["goal", "baseline", "", "measured", ""], rows)


def whole(found, absent):
    """The page of {stage: its data}."""
    parts = ["# pieprof and its peers", "## Worse than a peer", "Medians over the programs that both ran; ratios to "
             f"{BASELINE}. A peer may measure less than pieprof does here: py-spy has no memory, memray no time.",
             worse(found), "## Goals", goals(found)]  # fmt: skip
    parts += ["Absent here: " + ", ".join(f"{name} ({reason})" for name, reason in absent.items()) + "."] if absent else []
    for stage, title in TITLES.items():
        if figures.programs(found, (stage,)):
            parts += [f"## {title}", overhead(found, stage)]
    for stage, title, tell in (("collectors", "Costs by collector, in turns", collectors), ("truth", "Truth", truth),
                               ("scaling", "Scaling", scaling), ("start", "Start and end", start),
                               ("answers", "Answers and page", answers), ("detection", "Detection, set tuned", detection)):  # fmt: skip
        if found.get(stage, {}).get("steps"):
            parts += [f"## {title}", tell(found[stage]["steps"])]
    missing = failures(found)
    parts += ["## Without a figure", table(["stage", "program", "column", "why"], missing)] if missing else []
    return "\n\n".join([*parts, "## What was measured when", provenance(found)]) + "\n"
