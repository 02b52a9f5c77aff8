# SPDX-License-Identifier: Apache-2.0
"""Stages, the steps that they are made of, and the data file of each, from which an interrupted run goes on."""

import dataclasses
import datetime
import json
import os
import pathlib
import time
import typing

VERSION = 1  # of the data files


@dataclasses.dataclass(frozen=True)
class Stage:
    name: str
    what: str  # is measured
    minutes: tuple  # expected: (whole, quick)
    steps: typing.Callable  # (bench) -> {name: a function without arguments that returns what JSON can hold}


def choose(stages, names):
    """The stages of these names in their own order; all without names."""
    unknown = sorted(set(names) - {stage.name for stage in stages})
    if unknown:
        raise ValueError(f"unknown stage {', '.join(unknown)}; there are {', '.join(stage.name for stage in stages)}")
    return [stage for stage in stages if not names or stage.name in names]


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


def run(stage, results, facts, bench, say):
    """Runs the steps of a stage that its file lacks; returns how many. The file is written after each step. What was
    measured on another tree or machine is not mixed with this one's: such a file begins anew unless it is done."""
    found = results.read(stage.name)
    if found and found["is_done"]:
        say(f"{stage.name}: done on {found['date']}, tree {found['facts']['tree']}")
        return 0
    same = ("tree", "machine", "peers")
    if not found or any(found["facts"].get(key) != facts.get(key) for key in same):
        found = {"version": VERSION, "stage": stage.name, "form": results.form, "is_done": False, "facts": facts, "steps": {}}
    steps = stage.steps(bench)
    left = [name for name in steps if name not in found["steps"]]
    for number, name in enumerate(left, 1):
        say(f"{stage.name} {number}/{len(left)}: {name}")
        begun = time.monotonic()
        try:
            rows = steps[name]()
        except (Exception, SystemExit) as error:  # the other steps still have figures, and a later run tries this one again
            say(f"{stage.name}: {name} failed: {error}")
            continue
        found["steps"][name] = {"took_s": round(time.monotonic() - begun, 1), "rows": rows}
        found["date"] = datetime.datetime.now().isoformat(timespec="minutes")
        results.write(stage.name, found)
    found["is_done"] = len(found["steps"]) == len(steps)
    found.setdefault("date", datetime.datetime.now().isoformat(timespec="minutes"))
    results.write(stage.name, found)
    return len(left)
