# SPDX-License-Identifier: Apache-2.0
"""scripts/test counts each test case once and never takes a failure for a pass."""
import pathlib
import subprocess
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "scripts" / "lib"))
import meson_tests  # noqa: E402
import results  # noqa: E402


def counted(result, stdout, returncode=0):
    entry = {"name": "t", "duration": 0.1, "result": result, "stdout": stdout, "returncode": returncode}
    found = results.from_meson(entry)
    return tuple(found.count(verdict) for verdict in ("passed", "failed", "skipped"))


@pytest.mark.parametrize(
    "result, stdout, expected",
    [
        ("OK", "1..3\nok 1 - one\nok 2 - two # SKIP no PMU\nok 3 - three\n", (2, 0, 1)),
        ("OK", "ok 1 a.py::one\nok 2 a.py::two\n1..2\n", (2, 0, 0)),
        ("FAIL", "1..2\nok 1 - one\nnot ok 2 - two\n", (1, 1, 0)),
        ("ERROR", "1..3\nok 1 - one\n", (1, 1, 0)),
        ("TIMEOUT", "ok 1 - one\n", (1, 1, 0)),
        ("TIMEOUT", "", (0, 1, 0)),
        ("SKIP", "1..0 # SKIP pytest is not installed\n", (0, 0, 1)),
        ("SKIP", "nothing to see here\n", (0, 0, 1)),
        ("OK", "not in that format at all\n", (1, 0, 0)),
        ("FAIL", "Segmentation fault\n", (0, 1, 0)),
        ("OK", "1..1\nnot ok 1 - x # TODO later\n", (0, 0, 1)),
    ],
)
def test_cases_are_counted(result, stdout, expected):
    assert counted(result, stdout) == expected


def test_a_skip_of_cmocka_is_no_failure():
    stdout = "1..2\nok 1 - one\nnot ok 2 # SKIP two\n"
    assert counted("FAIL", stdout) == (1, 0, 1)
    assert counted("FAIL", stdout, returncode=1) == (1, 1, 1)
    assert counted("FAIL", stdout.replace("1..2", "1..3")) == (1, 1, 1)


def test_reasons_are_kept():
    entry = {"name": "t", "duration": 0, "result": "OK", "stdout": "1..1\nok 1 - one # SKIP no PMU here\n"}
    (case,) = results.from_meson(entry).cases
    assert (case.name, case.verdict, case.note) == ("one", "skipped", "no PMU here")


def test_the_sum_is_one_line():
    one = results.Result("a", 0.0, [results.Case("", "passed"), results.Case("", "failed")])
    two = results.Result("b", 0.0, [results.Case("", "skipped", "why")])
    assert results.summary([one, two]) == "1 passed, 1 failed, 1 skipped"


def test_what_failed_is_told_first():
    passed = [f"ok {number} {number}" for number in range(100)]
    pytest_says = ["...F..", "=== FAILURES ===", "E   assert 1 == 2", "=== short test summary info ==="]
    lines = [*passed, "not ok 101 two", "1..101", *pytest_says, *["SKIPPED x"] * 50]
    told = results.Result("a", 0.0, output="\n".join(lines)).told(3)
    assert told == pytest_says[1:]
    of_cmocka = [*passed, "# 0x1 != 0x2", "not ok 101 - two", *passed]
    assert results.Result("a", 0.0, output="\n".join(of_cmocka)).told(3) == ["# 0x1 != 0x2", "not ok 101 - two"]


CHANCES = """
import pathlib
import pytest

@pytest.fixture(scope="module")
def attempt():
    count = pathlib.Path(__file__).with_suffix(".count")
    count.write_text((count.read_text() if count.exists() else "") + "x")
    return len(count.read_text())

def test_holds(attempt): assert attempt == 1
def test_misses_once(attempt): assert attempt == 2
def test_misses_twice(attempt): assert attempt == 3
def test_misses(attempt): assert False
"""


@pytest.mark.parametrize("options, expected", [
    (["--estimates"], ["ok 1 holds", "ok 2 misses_once (missed at first: assert 1 == 2)",
                      "ok 3 misses_twice (missed at first: assert 2 == 3)", "not ok 4 misses", "1..4"]),
    ([], ["ok 1 holds", "not ok 2 misses_once", "not ok 3 misses_twice", "not ok 4 misses", "1..4"]),
])
def test_an_estimate_must_miss_three_times(tmp_path, options, expected):
    (tmp_path / "test_it.py").write_text(CHANCES)
    tool = pathlib.Path(__file__).parents[1] / "tools" / "pytest-tap"
    done = subprocess.run([tool, *options, tmp_path / "test_it.py"], capture_output=True, text=True, check=False,
                          cwd=tmp_path)  # else pytest names tests from where we are
    assert [line.replace("test_it.py::test_", "") for line in done.stdout.splitlines()] == expected


def test_a_report_of_threadsanitizer_is_told_once(tmp_path):
    reports = tmp_path / "report[1]"
    tmp_path.joinpath("report[1].77").write_text("WARNING: ThreadSanitizer: data race\n")
    assert f":log_path={reports}" in meson_tests.sanitizer_env(str(reports))["TSAN_OPTIONS"]
    assert meson_tests.read_reports(str(reports)) == "WARNING: ThreadSanitizer: data race\n"
    assert meson_tests.read_reports(str(reports)) == "" and not list(tmp_path.iterdir())
