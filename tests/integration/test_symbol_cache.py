# SPDX-License-Identifier: Apache-2.0
"""Symbol tables are kept between runs, and nothing but time depends on that."""

import pytest

from helpers import clean_environment, profile

PROGRAM = """
import json, time
until = time.process_time() + 0.25
while time.process_time() < until:
    json.dumps([1 / 3] * 5000)
print(json.dumps({}))
"""

DTOA = ("python", "_Py_dg_dtoa")  # of the interpreter itself, where all of its time goes


def names(folder, number, program, **environment):
    """The native functions, by library."""
    done = profile(folder / f"{number}.db", program, env=clean_environment(**environment))
    rows = done.sql("select library, function from v_native")
    return {(row["library"], row["function"]) for row in rows}


@pytest.fixture
def program(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM)
    return tmp_path / "program.py"


def test_a_second_run_has_the_same_names(pieprof, tmp_path, program):
    caches = tmp_path / "caches"
    caches.mkdir(mode=0o700)
    first = names(tmp_path, 1, program, XDG_CACHE_HOME=str(caches))
    files = {path: path.stat().st_mtime_ns for path in (caches / "pieprof" / "symbols").iterdir()}
    assert DTOA in first and len(files) >= 2
    assert DTOA in names(tmp_path, 2, program, XDG_CACHE_HOME=str(caches))
    assert {path: path.stat().st_mtime_ns for path in files} == files
    for path in files:
        path.write_bytes(path.read_bytes()[:-100] + b"\xff" * 100)
    assert DTOA in names(tmp_path, 3, program, XDG_CACHE_HOME=str(caches))
    assert all(path.stat().st_mtime_ns > files[path] for path in files), "damaged files are replaced"


def test_nothing_appears_in_an_empty_home(pieprof, tmp_path, program):
    home = tmp_path / "home"
    home.mkdir()
    assert names(tmp_path, 1, program, HOME=str(home), XDG_CACHE_HOME=None)
    assert list(home.iterdir()) == []
