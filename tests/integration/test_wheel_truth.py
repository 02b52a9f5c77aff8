# SPDX-License-Identifier: Apache-2.0
"""A wheel of scripts/wheel in a fresh virtual environment: its figures with all collectors on.

PIEPROF_WHEEL names the wheel. Each Python of this machine that it has a core for is tried, and those of
PIEPROF_GUEST_PYTHONS (paths, separated by colons).
"""

import os
import re
import subprocess
import sys
import zipfile

import pytest

import helpers

sys.path.insert(0, str(helpers.ROOT / "scripts" / "lib"))
import builds  # noqa: E402

WHEEL = os.environ.get("PIEPROF_WHEEL")
pytestmark = pytest.mark.skipif(not WHEEL, reason="PIEPROF_WHEEL names no wheel")
PYTHONS = list(dict.fromkeys([helpers.PYTHON, *builds.other_pythons().values(),
                              *filter(None, os.environ.get("PIEPROF_GUEST_PYTHONS", "").split(":"))]))
MEMORY = """
import sys, time
kept, churn = [], []
end = time.thread_time() + 1
while time.thread_time() < end:  # loop
    kept.append([str(i) for i in range(1000)])  # keep
print(sys.prefix, len(kept) > 0)
"""


def names():
    with zipfile.ZipFile(WHEEL) as file:
        return file.namelist()


def cores():
    return {re.search(r"libpieprof-(.*)\.so$", name)[1] for name in names() if name.endswith(".so")}


@pytest.fixture(scope="module", params=PYTHONS, ids=lambda path: path.replace("/", "_"))
def environment(request, tmp_path_factory):
    """The folder of an environment that has the wheel."""
    version = helpers.run([request.param, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).stdout.strip()
    if version not in cores():
        pytest.skip(f"the wheel has no core for {version}")
    folder = tmp_path_factory.mktemp("environment") / "v"
    subprocess.run([request.param, "-m", "venv", folder], check=True, env=helpers.clean_environment())
    done = helpers.run([folder / "bin" / "pip", "install", "-q", "--no-index", "--no-deps", WHEEL])
    assert done.returncode == 0, done.stderr
    return folder


def profile(environment, tmp_path, program):
    env = helpers.clean_environment(VIRTUAL_ENV=str(environment), PIEPROF_OPTS=None, PIEPROF_CORES=None)
    done = helpers.run([environment / "bin" / "pieprof", "-o", tmp_path / "x.db", program], env=env)
    assert done.returncode == 0, done.stderr
    return done


def test_the_environments_own_python_is_profiled(environment, tmp_path):
    """With all collectors, and long enough for leaks and their holders to be looked for."""
    program = tmp_path / "p.py"
    program.write_text(MEMORY)
    done = profile(environment, tmp_path, program)
    assert done.stdout == f"{environment} True\n"
    lines = {row["line"]: row["cpu_s"] for row in helpers.query(tmp_path / "x.db", "hot lines") if row["file"] == str(program)}
    spent_s = sum(lines.get(helpers.line_of(program, mark), 0) for mark in ("loop", "keep"))
    assert spent_s == pytest.approx(1, rel=0.2), lines


def test_the_module_is_there_without_the_profiler(environment):
    done = helpers.run([environment / "bin" / "python", "-c", "import pieprof; print(list(pieprof.loop([1, 2])))"])
    assert (done.returncode, done.stdout) == (0, "[1, 2]\n"), done.stderr
