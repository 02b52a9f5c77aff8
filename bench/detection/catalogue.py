# SPDX-License-Identifier: Apache-2.0
"""The programs and what their sources say of themselves: category, kind and the lines to find.

There are three sets. Rules may be tuned on the programs of programs/, so a good result there proves little. Those of
unseen/ are run only at the end of a piece of work, and their result is reported whatever it is. Those of apart/ are run
when all work on the rules is done; whoever wrote them had not read the rules. A rule that is changed because of a
program of either makes it a tuned one: move it to programs/ then.
"""

import ast
import collections
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
SETS = {"tuned": HERE / "programs", "unseen": HERE / "unseen", "apart": HERE / "apart"}
MARK = re.compile(r"# waste: (load|store)\s*$")
CATEGORIES = (
    "slice underutilization",
    "API misuse",
    "repeated native calls",
    "inefficient algorithm",
    "loop-invariant computation",
)


@dataclasses.dataclass(frozen=True)
class Program:
    path: pathlib.Path
    category: str | None  # None: clean
    kind: str | None
    lines: frozenset  # of the waste, line numbers
    summary: str

    @property
    def name(self):
        return self.path.stem

    @property
    def is_clean(self):
        return self.category is None


def constants(tree):
    """Module-level NAME = "text"."""
    found = {}
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            found[node.targets[0].id] = node.value.value
    return found


def read(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    known = constants(tree)
    marks = {n: match[1] for n, line in enumerate(text.splitlines(), 1) if (match := MARK.search(line))}
    category, kind = known.get("CATEGORY"), known.get("KIND")
    is_sound = category in CATEGORIES and marks and set(marks.values()) == {kind} if category else not marks
    if not is_sound:
        raise ValueError(f"{path.name}: its head and its marks do not agree")
    return Program(path, category, kind, frozenset(marks), " ".join(ast.get_docstring(tree).split()))


def paths(name, sets=SETS):
    return [path for path in sets[name].glob("*.py") if path.stem != "harness"]


def check_names(sets=SETS):
    """A finding belongs to a program by the name of its file, so no name may be in two sets."""
    counts = collections.Counter(path.stem for name in sets for path in paths(name, sets))
    twice = sorted(stem for stem, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"in two sets: {', '.join(twice)}")


def programs(only=(), chosen="tuned"):
    """Those of one set, by category, then by name; the clean ones last."""
    check_names()
    found = [read(path) for path in paths(chosen)]
    unknown = set(only) - {program.name for program in found}
    if unknown:
        raise ValueError(f"no such program in the set {chosen}: {', '.join(sorted(unknown))}")
    order = (*CATEGORIES, None)
    found.sort(key=lambda program: (order.index(program.category), program.name))
    return [program for program in found if not only or program.name in only]
