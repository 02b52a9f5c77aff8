# SPDX-License-Identifier: Apache-2.0
"""Stages, the steps that they are made of, and the data file of each, from which an interrupted run goes on.

A stage has a budget of wall time. Each of its steps measures one round, so that every table has all of its rows and
columns, and further rounds as long as its part of the budget lasts."""

import dataclasses
import datetime
import json
import os
import pathlib
import resource
import time
import typing

VERSION = 1  # of the data files


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    what: str  # is measured
    minutes: tuple  # the budget: (whole, quick)
    steps: typing.Callable  # (bench) -> {name: a function without arguments that returns what JSON can hold}
    is_extra: bool = False  # runs only if it is named
    is_cut: bool = False  # steps for which no time is left are left out


class Budget:
    """What may still be measured. Each step has an equal part of what is left when it begins, so what a short one
    leaves goes to the others."""

    def __init__(self, seconds, now=time.monotonic):
        self.now, self.end_s = now, now() + seconds
        self.until_s = self.end_s

    def begin(self, steps_left):
        begun = self.now()
        self.until_s = begun + max(0.0, self.end_s - begun) / steps_left

    def allows(self, seconds):
        """Would something that takes this long end within the step's part?"""
        return self.now() + seconds <= self.until_s

    def is_spent(self):
        return self.now() >= self.end_s


def choose(stages, names):
    """The stages of these names in their own order; without names all but the extra ones."""
    unknown = sorted(set(names) - {stage.name for stage in stages})
    if unknown:
        raise ValueError(f"unknown stage {', '.join(unknown)}; there are {', '.join(stage.name for stage in stages)}")
    return [stage for stage in stages if stage.name in names or not (names or stage.is_extra)]


class Results:
    """The data files of one form, "whole" or "quick", in one folder."""

    def __init__(self, folder, form):
        self.folder, self.form = pathlib.Path(folder) / form, form
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, name):
        return self.folder / f"{name}.json"

    def read(self, name):
        """None where there is no file of this version."""
        try:
            found = json.loads(self.path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) and found.get("version") == VERSION else None

    def write(self, name, found):
        """All of it or nothing, so that a kill leaves the former file."""
        beside = self.path(name).with_suffix(".new")
        beside.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        os.replace(beside, self.path(name))

    def forget(self, name):
        self.path(name).unlink(missing_ok=True)

    def is_done(self, name):
        found = self.read(name)
        return bool(found and found["is_done"])

    def all(self, stages):
        return {stage.name: found for stage in stages if (found := self.read(stage.name))}


def begun(stage, results, facts):
    """What is there of a stage. What was measured on another tree or machine is not mixed with this one's: such a file
    begins anew unless it is done."""
    found = results.read(stage.name)
    same = ("tree", "machine", "peers")
    if found and (found["is_done"] or all(found["facts"].get(key) == facts.get(key) for key in same)):
        return found
    return {"version": VERSION, "stage": stage.name, "form": results.form, "is_done": False, "facts": facts, "steps": {}}


def cpu_s():
    """Of all children that have been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(step):
    """What the step found, with its wall time and its processes' CPU time: on a busy machine the latter is what the
    step would take on a quiet one, about, since one process runs at a time."""
    wall_s, used_s = time.monotonic(), cpu_s()
    rows = step()
    return {"took_s": round(time.monotonic() - wall_s, 1), "cpu_s": round(cpu_s() - used_s, 1), "rows": rows}


def run(stage, results, facts, bench, say, now=time.monotonic):
    """Runs the steps of a stage that its file lacks; returns how many. The file is written after each step."""
    found = begun(stage, results, facts)
    if found["is_done"]:
        say(f"{stage.name}: done on {found['date']}, tree {found['facts']['tree']}")
        return 0
    minutes = stage.minutes[0 if results.form == "whole" else 1]
    budget = Budget(60 * minutes - sum(step["took_s"] for step in found["steps"].values()), now)
    if bench is not None:
        bench.budget = budget
    steps = stage.steps(bench)
    left, failed = [name for name in steps if name not in found["steps"]], 0
    found.pop("left_out", None)
    for number, name in enumerate(left):
        if stage.is_cut and number and budget.is_spent():
            found["left_out"] = left[number:]
            say(f"{stage.name}: no time is left for {len(left) - number} of {len(steps)}")
            break
        budget.begin(len(left) - number)
        say(f"{stage.name} {number + 1}/{len(left)}: {name}")
        try:
            found["steps"][name] = timed(steps[name])
        except (Exception, SystemExit) as error:  # the other steps still have figures, and a later run tries this one again
            failed += 1
            say(f"{stage.name}: {name} failed: {error}")
            continue
        found["date"] = datetime.datetime.now().isoformat(timespec="minutes")
        results.write(stage.name, found)
    found["is_done"] = not failed
    found.setdefault("date", datetime.datetime.now().isoformat(timespec="minutes"))
    results.write(stage.name, found)
    return len(left)
