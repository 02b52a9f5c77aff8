# SPDX-License-Identifier: Apache-2.0
"""scripts/matrix: which tests are a suite, what words it takes, how its figures become a table."""
import json
import subprocess
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "scripts" / "lib"))
import matrix  # noqa: E402

TESTS = [("pystack-names", {"unit"}), ("ring", {"unit", "tsan"}), ("truth", {"integration", "quiet"}),
         ("truth memory", {"integration"}), ("soak", {"slow"})]  # fmt: skip


def run(*words):
    return subprocess.run([tree.ROOT / "scripts" / "matrix", *words], capture_output=True, text=True, check=False)


def test_suites():
    assert matrix.tests_of("pystack", TESTS) == ["pystack-names"]
    assert matrix.tests_of("unit", TESTS) == ["pystack-names", "ring"]
    assert matrix.tests_of("truth", TESTS) == ["truth"]
    assert matrix.tests_of("nonsense", TESTS) == []
    assert matrix.default_suites(TESTS) == ["pystack", "truth", "truth memory"]


def test_each_version_is_listed_with_its_place():
    lines = run("--list").stdout.splitlines()
    assert [line.split()[0] for line in lines] == ["3.11", "3.12", "3.13", "3.14", "3.15", "3.14t"]
    assert all(len(line.split()) > 1 for line in lines)


def test_an_unknown_version_is_refused():
    done = run("3.9")
    assert done.returncode == 2 and "unknown version 3.9" in done.stderr


def test_figures_become_a_table(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(matrix, "results_file", lambda version: tmp_path / f"{version}.json")
    for version, suite, passed in (("3.12", "truth", 60), ("3.13", "truth", 61), ("3.13", "faults", 9)):
        matrix.keep(version, suite, {"passed": passed, "failed": 0, "skipped": 2})
    assert set(json.loads((tmp_path / "3.13.json").read_text())) == {"truth", "faults"}
    matrix.table(["3.11", "3.12", "3.13"])
    assert capsys.readouterr().out.splitlines() == [
        "| suite | 3.12 | 3.13 |", "|---|---|---|", "| truth | 60 / 0 / 2 | 61 / 0 / 2 |", "| faults |  | 9 / 0 / 2 |"]  # fmt: skip
