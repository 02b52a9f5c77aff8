#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profiles programs that others wrote, each with a known waste of redundant loads or stores, and says what became of
it.

None of them is part of this repository. Clone those you want and say where they are:
    bench/real/run.py --pieprof build/pieprof --clones ~/clones minisom ta cnn numpycnn
where ~/clones/minisom is a clone of https://github.com/JustGlowing/minisom, and so on (--list says which)."""

import argparse
import collections
import dataclasses
import json
import math
import os
import pathlib
import statistics
import subprocess
import tempfile

HERE = pathlib.Path(__file__).parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclasses.dataclass
class Project:
    """One project and what is known of its waste."""

    name: str
    url: str
    revisions: dict  # {what: (commit, words for the driver)}, the wasteful one first, each next one better
    files: str  # which of the repository's files are needed
    truth: dict  # {(file, line): (what is there, categories that fit)}


SLICE, API, INVARIANT = "slice underutilization", "API misuse", "loop-invariant computation"

PROJECTS = (
    Project(
        "minisom",
        "https://github.com/JustGlowing/minisom",
        {"before": ("13575dd^", []), "update() fixed": ("13575dd", []), "_activate() too": ("30df7cc", [])},
        "minisom.py",
        {
            ("minisom.py", 40): ("fast_norm(), which _activate() calls for each neuron", (API, SLICE)),
            ("minisom.py", 166): ("_activate(): a neuron at a time", (SLICE,)),
            ("minisom.py", 247): ("update(): a neuron at a time", (SLICE,)),
            ("minisom.py", 248): ("update(): a neuron at a time", (SLICE,)),
        },
    ),
    Project(
        "ta",
        "https://github.com/bukosabino/ta",
        {"before": ("d40b9d5^", []), "get_min_max() fixed": ("d40b9d5", [])},
        "ta",
        {
            ("utils.py", 24): ("get_min_max(): np.isnan() of one number", (API,)),
            ("trend.py", 138): ("high.combine(): a row at a time", (API,)),
            ("trend.py", 139): ("low.combine(): a row at a time", (API,)),
            ("trend.py", 220): ("high.combine(): a row at a time", (API,)),
            ("trend.py", 221): ("low.combine(): a row at a time", (API,)),
        },
    ),
    Project(
        "cnn",
        "https://github.com/vzhou842/cnn-from-scratch",
        {"before": ("44e75d8", []), "conv.py fixed": ("44e75d8", ["conv"]), "maxpool.py too": ("44e75d8", ["conv", "pool"])},
        "",
        {
            ("conv.py", 58): ("a filter at a time", (SLICE,)),
            ("maxpool.py", 52): ("an element at a time", (SLICE,)),
            ("maxpool.py", 53): ("an element at a time", (SLICE,)),
        },
    ),
    Project(
        "numpycnn",
        "https://github.com/ahmedfgad/NumPyCNN",
        {"before": ("274516b", []), "invariant hoisted": ("274516b", ["invariant"])},
        "NumPyCNN.py",
        {
            ("NumPyCNN.py", 35): ("floor() and ceil() of a constant", (INVARIANT,)),
            ("NumPyCNN.py", 36): ("floor() and ceil() of a constant", (INVARIANT,)),
        },
    ),
)


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, **more)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stderr.decode()[-2000:]}")
    return done.stdout


def check_out(clone, revision, files, target):
    names = run(["git", "-C", clone, "ls-tree", "-r", "--name-only", revision, "--", *files.split()]).decode().split("\n")
    for name in names:
        if name.endswith(".py"):
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(run(["git", "-C", clone, "show", f"{revision}:{name}"]))


def measure(options, command, driver, source, words):
    """(checksum, seconds of CPU time) of the driver's last line."""
    root = pathlib.Path(options.python).parent.parent
    venv = {"VIRTUAL_ENV": str(root)} if (root / "pyvenv.cfg").exists() else {}
    last = run([*command, driver, source, *words], env=os.environ | ONE_THREAD | venv).decode().splitlines()[-1]
    return tuple(map(float, last.split()))


def plain_times(options, driver, trees):
    """{what: median seconds}; they take turns. Every revision must compute the same."""
    times, sums = {what: [] for what in trees}, []
    for _ in range(options.rounds):
        for what, (tree, words) in trees.items():
            checksum, seconds = measure(options, [options.python], driver, tree, words)
            times[what].append(seconds)
            sums.append(checksum)
    if not all(math.isclose(value, sums[0], rel_tol=1e-6) for value in sums):
        raise SystemExit(f"{driver.name}: the revisions do not compute the same: {sums}")
    return {what: statistics.median(values) for what, values in times.items()}


def place(finding, ends=(("file", "line"), ("user_file", "user_line"))):
    return [(os.path.basename(finding[file]), finding[line]) for file, line in ends if finding.get(file)]


def show(number, finding, project):
    known = next((project.truth[at] for at in place(finding) if at in project.truth), None)
    mark = " " if known is None else "*" if finding["category"] in known[1] else "?"
    where = ":".join(map(str, (place(finding) or [("-", 0)])[0]))
    own = place(finding, (("user_file", "user_line"),))
    below = f" below {own[0][0]}:{own[0][1]}" if own and own != place(finding)[:1] else ""
    share = 100 * (finding["wasted_share"] or 0)
    print(
        f"{mark}{number:3d} {finding['severity']:8s} {finding['kind']:5s} {where}{below}  {finding['category']}"
        f"  {finding['wasted_s'] or 0:.2f} s ({share:.0f} %)  fraction {finding['redundant_fraction'] or 0:.2f}"
    )


def known_share(answer, project):
    """Of the run, what the findings at known lines say is wasted. Loads and stores of a line are two views of the same
    time: the larger counts."""
    shares = collections.defaultdict(float)
    for finding in answer:
        for at in place(finding, (("file", "line"),)):
            if at in project.truth:
                shares[at] = max(shares[at], finding["wasted_share"] or 0)
    return min(sum(shares.values()), 0.999)


def examine(project, options, place_of_trees):
    clone, driver = options.clones / project.name, HERE / f"drive_{project.name}.py"
    trees = {}
    for number, (what, (revision, words)) in enumerate(project.revisions.items()):
        tree = place_of_trees / f"{project.name}{number}"
        check_out(clone, revision, project.files, tree)
        trees[what] = (tree, words)
    print(f"\n## {project.name}: {project.url} {project.revisions['before'][0]}")
    times = plain_times(options, driver, trees)
    for what, seconds in times.items():
        print(f"  {what}: {seconds:.2f} s, {times['before'] / seconds:.2f}x")
    for repeat in range(options.repeats):
        database = place_of_trees / f"{project.name}-{repeat}.db"
        _, seconds = measure(options, [options.pieprof, "-q", "-o", database], driver, *trees["before"])
        answer = json.loads(run([options.pieprof, "query", database, "redundancy", "--json"]))["rows"]
        print(f"  under pieprof: {seconds:.2f} s, {seconds / times['before']:.2f}x; * a known line, ? with another category")
        for number, finding in enumerate(answer[: options.top], 1):
            show(number, finding, project)
        share = known_share(answer, project)
        print(f"  known lines together: {100 * share:.0f} % of the run wasted; without it {1 / (1 - share):.2f}x")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="which projects (default: all)")
    parser.add_argument("--list", action="store_true", help="say what is to be cloned where, and end")
    parser.add_argument("--clones", type=pathlib.Path, default=pathlib.Path("clones"), help="the folder of the clones")
    parser.add_argument("--pieprof", default="build/pieprof")
    parser.add_argument("--python", default="/usr/bin/python3", help="for the runs without pieprof; the same version")
    parser.add_argument("--rounds", type=int, default=3, help="runs without pieprof of each revision")
    parser.add_argument("--repeats", type=int, default=1, help="profiles of each")
    parser.add_argument("--top", type=int, default=8, help="findings to show")
    options = parser.parse_args()
    chosen = [project for project in PROJECTS if not options.names or project.name in options.names]
    if options.list:
        print("\n".join(f"git clone {project.url} {options.clones / project.name}" for project in chosen))
        return
    with tempfile.TemporaryDirectory() as folder:
        for project in chosen:
            examine(project, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
