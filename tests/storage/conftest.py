# SPDX-License-Identifier: Apache-2.0
"""The known profile of fixture.c, and the program that answers questions about it."""

import os
import pathlib
import subprocess

import pytest

BUILD = pathlib.Path(os.environ.get("PIEPROF_BUILD", pathlib.Path(__file__).resolve().parents[2] / "build"))
PIEPROF = pathlib.Path(os.environ.get("PIEPROF", BUILD / "pieprof"))


def clean_environment(**more):
    """No terminal, no colours, no width but those that a test sets."""
    dropped = ("PIEPROF", "PYTHON", "COLUMNS", "NO_COLOR", "FORCE_COLOR", "LC_", "LANG")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    return {**kept, **more}


class Program:
    """pieprof in one folder with a profile of two runs, a.db."""

    def __init__(self, folder):
        self.folder = folder
        self.db = folder / "a.db"

    def __call__(self, *words, timeout=60, env=None, **more):
        done = subprocess.run([PIEPROF, *map(str, words)], cwd=self.folder, capture_output=True, timeout=timeout,
                              env=env or clean_environment(), **more)
        done.text = done.stdout.decode("utf-8", "surrogateescape")
        done.complaint = done.stderr.decode("utf-8", "surrogateescape")
        return done


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profile")
    subprocess.run([BUILD / "tests/storage/make_fixture", folder / "a.db", folder / "src", "2"], check=True)
    return Program(folder)


def is_one_line(complaint):
    return complaint.startswith("pieprof: ") and complaint.count("\n") == 1 and complaint.endswith("\n")
