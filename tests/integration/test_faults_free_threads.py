# SPDX-License-Identifier: Apache-2.0
"""Programs whose threads run Python side by side, without the GIL, come to no harm."""

import pytest

import helpers
from helpers import FAULTS, FIXED_RATES, PYTHON, check_file, profile, total

ENDS, STORM = FAULTS / "parallel" / "ends.py", FAULTS / "parallel" / "storm.py"


@pytest.fixture(autouse=True)
def without_gil():
    if not helpers.python_abi().endswith("t"):
        pytest.skip(f"{PYTHON} has the GIL: scripts/matrix 3.14t makes one without")


@pytest.mark.parametrize("way, status", [("exit", 3), ("_exit", 3), ("return", 0), ("exec", 3), ("raise", 1), ("kill", -15)])
def test_it_ends_while_threads_run(pieprof, tmp_path, way, status):
    done = profile(tmp_path / "x.db", ENDS, way, check=False)
    plain = helpers.run([PYTHON, ENDS, way])
    assert (done.completed.returncode, done.completed.stderr) == (plain.returncode, plain.stderr)
    assert plain.returncode == status
    assert check_file(tmp_path / "x.db")
    found = total((r for r in done.functions(ENDS) if r["function"] == "endless"), "cpu_s")
    used = float(done.completed.stdout)  # a moment before the end, with the start of Python
    assert 0.6 * used < found < used + 1, (found, used)


@pytest.mark.parametrize("options", [(), FIXED_RATES, ("--clock", "timer")], ids=["budget", "fixed", "timer"])
def test_a_storm_does_no_harm(pieprof, tmp_path, options):
    db = tmp_path / "x.db"
    done = profile(db, STORM, 3, options=options, check=False, timeout=400)
    assert (done.completed.returncode, done.completed.stdout, done.completed.stderr) == (5, "right\n", "")
    assert check_file(db)
    made = [r for r in done.functions() if (r["function"] or "").startswith("made_")]
    # A code object that was made where another one had been is not told as that one.
    for row in made:
        number = row["function"].split("_")[1]
        assert row["file"].startswith(f"<made {number} "), row
    assert {row["function"].split("_")[1] for row in made} == {"0", "1", "2"}
