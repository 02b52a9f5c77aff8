# SPDX-License-Identifier: Apache-2.0
"""Programs that do while counting pauses what could break it: they run as under python3."""

import pytest

from helpers import FAULTS, PYTHON, check_file, query, run

PROGRAM = FAULTS / "pauses.py"
SECONDS = 2


@pytest.mark.parametrize("part", ["interpreters", "filter in thread", "filter", "forks", "threads", "tracers"])
def test_the_program_runs_as_ever_while_counting_pauses(pieprof, tmp_path, part):
    plain = run([PYTHON, PROGRAM, part, 0.05])
    if "no filter" in plain.stderr:
        pytest.skip(plain.stderr)
    assert plain.returncode == 0, plain.stderr
    db = tmp_path / "x.db"
    done = run([pieprof, "-o", db, "--overhead", "0.5%", PROGRAM, part, SECONDS], timeout=400)
    assert (done.returncode, done.stdout) == (0, plain.stdout), done
    check_file(db)
    (counting,) = (row["cpu_s"] for row in query(db, "overhead") if row["collector"] == "counting")
    if counting > 0.05:  # in some guests it costs next to nothing, and goes on
        assert "were counted in" in query(db, "heap")[0]["note"], part
