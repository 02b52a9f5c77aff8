# SPDX-License-Identifier: Apache-2.0
"""The programs and what their sources say of themselves: category, kind and the lines to find.

There are two halves. Rules may be tuned on the programs of programs/, so a good result there proves little. Those of
unseen/ are run only at the end of a piece of work, and their result is reported whatever it is. A rule that is changed
because of one of them makes it a tuned program: move it to programs/ then.
"""

import ast
import collections
import dataclasses
import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent
HALVES = {"tuned": HERE / "programs", "unseen": HERE / "unseen"}
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


def paths(half, halves=HALVES):
    return [path for path in halves[half].glob("*.py") if path.stem != "harness"]


def check_names(halves=HALVES):
    """A finding belongs to a program by the name of its file, so no name may be in both halves."""
    counts = collections.Counter(path.stem for half in halves for path in paths(half, halves))
    twice = sorted(name for name, count in counts.items() if count > 1)
    if twice:
        raise ValueError(f"in both halves: {', '.join(twice)}")


def programs(only=(), half="tuned"):
    """Those of one half, by category, then by name; the clean ones last."""
    check_names()
    found = [read(path) for path in paths(half)]
    unknown = set(only) - {program.name for program in found}
    if unknown:
        raise ValueError(f"no such program in the {half} half: {', '.join(sorted(unknown))}")
    order = (*CATEGORIES, None)
    found.sort(key=lambda program: (order.index(program.category), program.name))
    return [program for program in found if not only or program.name in only]
