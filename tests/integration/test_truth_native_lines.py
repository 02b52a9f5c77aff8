# SPDX-License-Identifier: Apache-2.0
"""Lines of C: those of a library that has debug information, and the name of one that has none."""

import os
import shutil

import pytest

import helpers
from helpers import TRUTH, line_of

SOURCE = TRUTH / "native_lines.c"
CC = shutil.which(os.environ.get("CC", "cc"))


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    if not CC:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("native")
    for name, flags in (("full", ["-g"]), ("bare", ["-s"])):
        done = helpers.run([CC, "-O1", *flags, "-shared", "-fPIC", SOURCE, "-o", folder / f"lib{name}.so"])
        assert done.returncode == 0, done.stderr
    return helpers.profile(folder / "p.db", TRUTH / "native_lines.py", 0.6, folder / "libfull.so", folder / "libbare.so")


def truth(profile, name):
    (lines,) = [lines for path, lines in profile.truth["cpu_s"].items() if name in path]
    return {mark: cpu_s * profile.program_share for mark, cpu_s in lines.items()}


def test_lines_of_c_have_their_time(profile):
    rows = [r for r in profile.query("top 1000 native lines") if r["file"] == str(SOURCE)]
    assert {(r["function"], r["library"]) for r in rows} <= {("spin", "libfull.so"), ("work", "libfull.so")}
    known = truth(profile, "libfull")
    for mark, cpu_s in known.items():
        line = line_of(SOURCE, mark)
        found = helpers.total((r for r in rows if r["line"] in (line - 1, line)), "cpu_s")
        # A sample each millisecond, by a clock of its own: a standard deviation of 18 ms.
        assert found == pytest.approx(cpu_s, abs=0.06), (mark, known, rows)


def test_a_library_without_names_has_its_own(profile):
    bare = [r for r in profile.query("top 1000 native lines")
            if r["library"] == "libbare.so" and r["function"] is None]
    assert {(r["file"], r["line"]) for r in bare} == {(None, None)}
    assert helpers.total(bare, "cpu_s") == pytest.approx(sum(truth(profile, "libbare").values()), abs=0.06)
    tree = [r for r in profile.query("all call tree") if r["library"] == "libbare.so" and r["function"] is None]
    assert helpers.total(tree, "self_s") == pytest.approx(helpers.total(bare, "cpu_s"), abs=1e-6)


def test_exports_have_the_lines(profile):
    done = helpers.run([helpers.binary(), "export", profile.db, "-f", "csv", "-o", "-"])
    assert done.returncode == 0, done.stderr
    of_file = [row for row in done.stdout.splitlines() if str(SOURCE) in row]
    for mark in ("one", "three"):
        assert any(f",{line_of(SOURCE, mark)}," in row for row in of_file), done.stdout[:2000]
