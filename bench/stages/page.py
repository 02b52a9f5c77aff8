# SPDX-License-Identifier: Apache-2.0
"""The page: Markdown of all data files. What is worse than a peer stands first, then the goals, then the charts."""

import re
import statistics

import charts
import figures
import interval
import overhead_truth
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


def off(row):
    """[points that its runs are off in the mean, how far 95 % of single runs are from there], as texts."""
    if not (mean := figures.mean_points(row)):
        return ["failed", ""]
    each = row.get("each", ())
    return [interval.text(mean, "{:+.2f}"), f"{1.96 * statistics.stdev(each):.2f}" if len(each) > 2 else ""]


def truth(steps):
    rows = [[what, name, *off(row)] for what, step in steps.items() for name, row in step["rows"].items()]
    return table(["truth", "column", "points off, mean", "one run, ±"], rows)


def budget(steps):
    """Of each program: the printed overhead by budget, then what is printed beside what is measured."""
    kept, true = [], []
    for name, step in steps.items():
        kind, _, program = name.partition(": ")
        if kind == "kept":
            by_budget = {}
            for run in step["rows"]:
                by_budget.setdefault(run["budget"], []).append(run)
            for limit, runs in by_budget.items():
                medians = [f"{statistics.median(run[key] for run in runs):.1f}" for key in ("without", "with")]
                kept.append([program, f"{limit:g}", *medians, f"{sum(run['without'] <= limit + 1 for run in runs)} of {len(runs)}"])
        else:
            row = step["rows"]
            cells = [f"{1e3 * row[key]:.0f}" for key in ("bare_s", "measured_s", "printed_s")]
            wrong, low, high = (f"{1e3 * row[key]:+.0f}" for key in ("wrong_s", "low_s", "high_s"))
            goal_s = overhead_truth.goal_s(row["bare_s"])
            true.append([program, *cells, f"{wrong} ({low} to {high})", f"{1e3 * goal_s:.0f}",
                         overhead_truth.verdict(row["low_s"], row["high_s"], goal_s)])
    parts = [table(["program", "budget, %", "overhead without start and end, %", "with, %", "kept to a point"], kept)] if kept else []
    parts += ["Is the printed overhead true? CPU time, ms:",
              table(["program", "bare", "measured more", "printed", "wrong", "at most", "reached"], true)] if true else []  # fmt: skip
    return "\n\n".join(parts)


def scaling(steps):
    kinds = figures.scaling(steps)
    grown = figures.not_flat(kinds)
    parts = [f"Flat: at most {figures.FLAT_MB} MB and {figures.FLAT_RATIO:g} of CPU / {BASELINE} more than at the smallest size.",
             table(["not flat", "from", "to", "what grew"], grown) if grown else "All that was measured is flat."]  # fmt: skip
    rows = []
    for what, step in steps.items():
        columns = step["rows"]["columns"]
        cells = []
        for key in ("wall_s", "cpu_s", "peak_mb"):
            value = figures.of_program(columns, figures.OURS, BASELINE, key)
            cells.append(f"{value:.2f}" if value is not None else "failed")
        rows.append([what, *cells])
    parts.append(table(["", *(f"{name}, governed / {BASELINE}" for name in ("whole process", "CPU", "peak memory"))], rows))
    slopes = [[kind, one.n, more.n, f"{1e6 * (more.more_cpu_s - one.more_cpu_s) / (more.n - one.n):.1f}",
               f"{1e3 * (more.more_mb - one.more_mb) / (more.n - one.n):.2f}"]
              for kind, sizes in kinds.items() for one, more in zip(sizes, sizes[1:])]  # fmt: skip
    parts += [f"What each one more costs beyond {BASELINE}, between two sizes:",
              table(["", "from", "to", "CPU, us", "peak memory, kB"], slopes)]  # fmt: skip
    return "\n\n".join(parts)


def hour(steps):
    """A dozen looks at the long run."""
    rows = []
    for step in steps.values():
        looks = step["rows"]
        chosen = sorted({round(number * (len(looks) - 1) / 11) for number in range(12)}) if looks else []
        rows += [[f"{looks[i]['s'] / 60:.1f}", *(f"{looks[i][key]:.1f}" for key in ("cpu_s", "rss_mb", "file_mb"))] for i in chosen]
    return table(["minutes", "CPU, s", "resident memory, MB", "file, MB"], rows)


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


def reason(said):
    """Of what failed, in one line: the last paragraph that was said, and of a traceback the last line."""
    paragraph = re.sub(r"\x1b\[[0-9;]*m", "", said).strip().split("\n\n")[-1]
    return paragraph.splitlines()[-1] if 'File "' in paragraph else " ".join(paragraph.split())


def failures(found):
    """What has no figure, and why."""
    rows = [(stage, name, column, reason(runs[-1]["failed"]))
            for stage in TITLES for name, columns in figures.programs(found, (stage,)).items()
            for column, runs in columns.items() if runs and "failed" in runs[-1]]  # fmt: skip
    absent = [(stage, name, "", step["rows"]["absent"]) for stage in TITLES for name, step in found.get(stage, {}).get("steps", {}).items()
              if "absent" in step["rows"]]  # fmt: skip
    undetected = [("detection", name, "", reason(step["rows"]["failed"]))
                  for name, step in found.get("detection", {}).get("steps", {}).items() if "failed" in step["rows"]]  # fmt: skip
    return [*absent, *rows, *undetected]


def minutes(one, key):
    """Of all steps; "" in data of before, which lacks the CPU time."""
    return f"{sum(step[key] for step in one['steps'].values()) / 60:.1f}" if all(key in step for step in one["steps"].values()) else ""


def done(one):
    if one.get("left_out"):
        return f"all but {len(one['left_out'])} steps, for which no time was left"
    return "yes" if one["is_done"] else "not yet"


def provenance(found):
    rows = [[name, one["facts"]["tree"], one.get("date", ""), one["facts"]["machine"], done(one), minutes(one, "took_s"),
             minutes(one, "cpu_s")] for name, one in found.items()]  # fmt: skip
    return table(["stage", "tree", "date", "machine", "done", "minutes", "CPU minutes"], rows)


def pictures(drawn, why):
    if not drawn:
        return f"There are none: {why}."
    return "\n\n".join(f"![{charts.TITLES[name]}]({file})" for name, file in drawn.items())


def worse(found):
    rows = [[title, peer, f"{theirs:.2f}", f"{ours:.2f}"] for title, peer, theirs, ours in figures.worse(found)]
    if not rows:
        return "Nothing in the stages measured, or no peer was measured."
    return table(["", "peer", "its median", f"{figures.OURS}"], rows)


def goals(found):
    rows = [[goal.what, goal.baseline, f"≤ {goal.limit:g} {goal.unit}".strip(), *figures.judged(goal, found)] for goal in figures.GOALS]
    return table(["goal", "baseline", "", "measured", ""], rows)


def whole(found, absent, drawn=None, why="they were not drawn"):
    """The page of {stage: its data}. drawn: {chart: its file}."""
    parts = ["# pieprof and its peers", "## Worse than a peer", "Medians over the programs that both ran; ratios to "
             f"{BASELINE}. A peer may measure less than pieprof does here: py-spy has no memory, memray no time.",
             worse(found), "## Goals", goals(found)]  # fmt: skip
    parts += ["## Charts", pictures(drawn or {}, why)]
    parts += ["Absent here: " + ", ".join(f"{name} ({reason})" for name, reason in absent.items()) + "."] if absent else []
    for stage, title in TITLES.items():
        if figures.programs(found, (stage,)):
            parts += [f"## {title}", overhead(found, stage)]
    for stage, title, tell in (("collectors", "Costs by collector, in turns", collectors), ("budget", "The budget", budget),
                               ("truth", "Truth", truth),
                               ("scaling", "Scaling", scaling), ("hour", "One long run", hour), ("start", "Start and end", start),
                               ("answers", "Answers and page", answers), ("detection", "Detection, set tuned", detection)):  # fmt: skip
        if found.get(stage, {}).get("steps"):
            parts += [f"## {title}", tell(found[stage]["steps"])]
    missing = failures(found)
    parts += ["## Without a figure", table(["stage", "program", "column", "why"], missing)] if missing else []
    return "\n\n".join([*parts, "## What was measured when", provenance(found)]) + "\n"
