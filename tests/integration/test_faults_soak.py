# SPDX-License-Identifier: Apache-2.0
"""A long run of everything that befalls a program whose memory accesses are watched. PIEPROF_SOAK_S says how long: an
hour in the suite `slow`, 12 s else."""

import os

from helpers import FAULTS, check_file, profile
from test_faults_watch import counters, needs_breakpoints  # noqa: F401  (a fixture of this module too)

SECONDS = float(os.environ.get("PIEPROF_SOAK_S", "12"))


def test_soak(pieprof, tmp_path):
    """The program's own checks hold, neither its memory nor the file grows on and on, and watching never stops."""
    db = tmp_path / "x.db"
    done = profile(db, FAULTS / "soak.py", SECONDS, timeout=2 * SECONDS + 120)
    assert not done.completed.stderr, done.completed.stderr
    truth = done.truth
    assert min(truth[key] for key in ("threads", "loads", "collections", "forks", "alarms", "arrays")) > SECONDS / 2, truth
    assert truth["late_mb"] < 1.1 * truth["early_mb"] + 32, truth
    (run,) = check_file(db)
    assert run["cause"] == "exit" and run["exit_status"] == 0
    assert counters(db)["watches"] > 5 * run["cpu_s"], run["cpu_s"]  # 30 on a machine with nothing else to do
    assert db.stat().st_size < 64e6 + 20e3 * SECONDS
