# SPDX-License-Identifier: Apache-2.0
"""Fixtures shared by the tests of the whole program."""

import os
import pathlib
import signal
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import helpers  # noqa: E402  (needs the path above)


# A shell's background job ignores SIGINT, one of nohup's SIGHUP, and so would all that is started here.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption("--kills", type=int, default=20, help="how many runs are ended by kill -9 (default 20; thorough 200)")


@pytest.fixture(scope="session")
def pieprof():
    """Path of the program under test."""
    path = helpers.binary()
    if not os.access(path, os.X_OK):
        pytest.fail(f"no program at {path}: build it, or say where it is with PIEPROF")
    return path


@pytest.fixture(scope="session")
def python_for_all():
    """Programs of other users can be Python: an interpreter in root's own folder cannot be reached by them."""
    if os.geteuid() == 0 and helpers.run(["sh", "-c", f"exec {helpers.PYTHON} -c ''"], user=65534).returncode:
        pytest.skip(f"other users cannot run {helpers.PYTHON}")


@pytest.fixture
def profiled(pieprof, tmp_path):
    """A function that profiles a command into a fresh file and returns the helpers.Profile."""
    made = []

    def run(*command, **more):
        made.append(command)
        return helpers.profile(tmp_path / f"{len(made)}.db", *command, **more)

    return run
