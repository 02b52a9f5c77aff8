# SPDX-License-Identifier: Apache-2.0
"""The figures as Go benchmark lines and as tables."""

import datetime
import platform
import statistics
import subprocess
import sys

TITLES = {"off": "pieprof, all off", "1khz": "pieprof, 1 kHz, no memory",
          "guest": "python3 with the core, off"}


def progress(text):
    print(text, file=sys.stderr, flush=True)


def go_line(program, variant, wall, cpu=None):
    name = "".join(part.capitalize() for part in program.split("_"))
    clock = {"1khz": "clock=1khz", "off": "clock=off"}.get(variant, f"run={variant}")
    line = f"Benchmark{name}/{clock} 1 {wall * 1e9:.0f} ns/op"
    return line + (f" {cpu * 1e9:.0f} cpu-ns/op" if cpu is not None else "")


def ratios(ours, theirs, clock):
    """One for each round, the median over its turns. clock: 0 wall, 1 CPU time."""
    return [statistics.median(a[clock] / b[clock] for a, b in zip(*turns)) for turns in zip(ours, theirs)]


def spread(values, form="{:.3f}"):
    """Median (lowest-highest)."""
    median, low, high = (form.format(f(values)) for f in (statistics.median, min, max))
    return f"{median} ({low}–{high})"


def table(title, header, rows):
    lines = [f"### {title}", "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def machine(options):
    """What was measured, on what, when."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        cpu = [line.split(":", 1)[1].strip() for line in file if line.startswith("model name")]
    version = subprocess.run([str(options.pieprof), "-V"], capture_output=True, text=True).stdout.strip()
    python = subprocess.run([str(options.python), "-V"], capture_output=True, text=True).stdout.strip()
    return "\n".join([
        f"- {datetime.date.today()}, {len(cpu)} × {cpu[0] if cpu else platform.machine()}, Linux {platform.release()}",
        f"- {version or options.pieprof}, {python} of {options.python}",
        f"- `{' '.join(['bench/run.py', *sys.argv[1:]])}`"])


def programs(times, baseline):
    """Ratios of the work's wall time; the last column is CPU time of all threads, ours included."""
    pairs = [("off", "python3"), *([("off", baseline), (baseline, "python3")] if baseline else []), ("1khz", "off"),
             ("1khz", "python3")]
    header = ["program", "python3 s", *(f"{a} / {b}" for a, b in pairs), "1khz / off, CPU"]
    rows, medians = [], {pair: [] for pair in [*pairs, "cpu"]}
    for program, found in times.items():
        row = [program, f"{statistics.median(sum(w for w, _ in turns) for turns in found['python3']):.2f}"]
        for pair in pairs:
            values = ratios(found[pair[0]], found[pair[1]], 0)
            medians[pair].append(statistics.median(values))
            row.append(spread(values))
        values = ratios(found["1khz"], found["off"], 1)
        medians["cpu"].append(statistics.median(values))
        rows.append([*row, spread(values)])
    rows.append(["**all** (median, range of medians)", "", *(f"**{spread(medians[p])}**" for p in [*pairs, "cpu"])])
    return table("Ratios of wall time", header, rows)


def memory(times):
    """Ratios of wall and CPU time of the work; "all" is what pieprof does unless told otherwise."""
    pairs = [("memory", "off"), ("jemalloc", "memory"), ("all", "off")]
    header = ["program", *(f"{a} / {b}" for a, b in pairs), *(f"{a} / {b}, CPU" for a, b in pairs)]
    rows, medians = [], [[] for _ in header[1:]]
    for program, found in times.items():
        values = [ratios(found[a], found[b], clock) for clock in (0, 1) for a, b in pairs]
        for i, column in enumerate(values):
            medians[i].append(statistics.median(column))
        rows.append([program, *map(spread, values)])
    rows.append(["**all** (median, range of medians)", *(f"**{spread(column)}**" for column in medians)])
    return table("Memory and copies: ratios of wall and CPU time", header, rows)


def before(times, settings):
    """This pieprof by the other one: ratios of wall and CPU time of the work."""
    header = ["program", *(f"{s}, wall" for s in settings), *(f"{s}, CPU" for s in settings)]
    rows, medians = [], [[] for _ in header[1:]]
    for program, found in times.items():
        values = [ratios(found[f"now {s}"], found[f"before {s}"], clock) for clock in (0, 1) for s in settings]
        for column, value in zip(medians, values):
            column.append(statistics.median(value))
        rows.append([program, *map(spread, values)])
    rows.append(["**all** (median, range of medians)", *(f"**{spread(column)}**" for column in medians)])
    return table("Ratios to the pieprof before", header, rows)


def starts(times):
    """Milliseconds of `-c pass`, and what is added in each round."""
    rows = []
    for name, seconds in times.items():
        more = [(s - p) * 1e3 for s, p in zip(seconds, times["python3"])]
        rows.append([TITLES.get(name, name), spread([s * 1e3 for s in seconds], "{:.1f}"),
                     "" if name == "python3" else f"{statistics.median(more):+.1f}"])
    return table("Start-up and end: `-c pass`", ["", "ms", "more than python3 (median of pairs), ms"], rows)


def files(sizes):
    rows = []
    for program, (small, short, large, long) in sizes.items():
        growth = (large - small) / (long - short) / 1e3
        rows.append([program, f"{short:.1f}", f"{small / 1e3:.0f}", f"{long:.1f}", f"{large / 1e3:.0f}", f"{growth:.1f}"])
    return table("Size of the file", ["program", "s", "kB", "s", "kB", "growth, kB/s"], rows)


def instructions(counts):
    if counts is None:
        return "### Instructions\n\nNot counted: valgrind is not installed."
    rows = [[TITLES.get(name, name), f"{count / 1e6:.1f}", f"{count / counts['python3']:.3f}"]
            for name, count in counts.items()]
    return table("Instructions of a mixed script, net of start-up (callgrind)", ["", "million", "ratio"], rows)
