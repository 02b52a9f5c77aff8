# SPDX-License-Identifier: Apache-2.0
"""The known profile of fixture.c, and the program that answers questions about it."""

import contextlib
import json
import os
import pathlib
import signal
import sqlite3
import subprocess
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))  # for packed.py

# A shell's background job ignores SIGINT, and so would all that is started here.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
    return make(tmp_path_factory.mktemp("profile"), 2)


def make(folder, *what):
    """The Program of make_fixture's database: runs, and whether they have waste, memory and traced loops."""
    subprocess.run([BUILD / "tests/storage/make_fixture", folder / "a.db", folder / "src", *map(str, what)], check=True)
    return Program(folder)


def changer(program, folder):
    """A function that makes a copy of a program's profile and changes it by SQL."""
    copy = Program(folder)

    def change(*statements):
        copy.db.write_bytes(program.db.read_bytes())
        with contextlib.closing(sqlite3.connect(copy.db)) as file:
            for statement in statements:
                file.execute(statement)
            file.commit()
        return copy

    return change


def rows(program, question, *options):
    done = program("query", "a.db", question, "--json", *options)
    assert done.returncode == 0, done.complaint
    return json.loads(done.text)["rows"]


@contextlib.contextmanager
def exported(program, folder):
    """The profile as other programs read it: with its views. What needs math functions is skipped where they are
    not."""
    done = program("export", str(program.db), "-f", "sqlite", "-o", str(folder / "a.sqlite"))
    assert done.returncode == 0, done.complaint
    with contextlib.closing(sqlite3.connect(folder / "a.sqlite")) as file:
        try:
            file.execute("SELECT sqrt(4)")
        except sqlite3.OperationalError as error:
            pytest.skip(f"this sqlite3 module lacks math functions: {error}")
        yield file


def is_one_line(complaint):
    return complaint.startswith("pieprof: ") and complaint.count("\n") == 1 and complaint.endswith("\n")
