# SPDX-License-Identifier: Apache-2.0
"""The page from `pieprof serve` in a browser, while the program runs: web/test/serve.mjs has the test."""

import pathlib
import subprocess
import sys
import time

import pytest
from test_page import PROGRAM, node

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
import served  # noqa: E402

WORK = """
import time
def hot(n):
    return sum(i * i for i in range(n))
kept = []
while True:
    hot(100000)
    kept.append(bytes(20000))
    time.sleep(0.005)
"""


def test_live_in_a_browser(tmp_path):
    if not PROGRAM:
        pytest.skip("no program is given by PIEPROF")
    script, db = tmp_path / "work.py", tmp_path / "p.db"
    script.write_text(WORK)
    running = subprocess.Popen([PROGRAM, "-q", "-o", db, script])
    try:
        while subprocess.run([PROGRAM, "query", db, "runs"], capture_output=True, check=False).returncode:
            time.sleep(0.1)
        with served.serving(PROGRAM, db) as server:
            told = node("test/serve.mjs", server.url, str(db), str(running.pid), PROGRAM)
            assert server.end() == 0
        assert told.count("\nok ") + told.startswith("ok ") == 6
    finally:
        running.kill()
        running.wait()
