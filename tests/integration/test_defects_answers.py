# SPDX-License-Identifier: Apache-2.0
"""Commands and files as users meet them: modes of the files, words that are no script, options behind the script."""

import os
import stat
import zipfile

import pytest
from helpers import PYTHON, binary, clean_environment, has_numpy, query, run

MODES = """
import os, stat, sys, time
names = [sys.argv[1] + end for end in ("", "-wal", "-shm")]
deadline = time.monotonic() + 30
while not all(map(os.path.exists, names)) and time.monotonic() < deadline:
    sum(range(10000))
print([oct(stat.S_IMODE(os.stat(name).st_mode)) for name in names])
"""


def test_the_profile_and_its_log_are_their_users_alone(tmp_path):
    (tmp_path / "modes.py").write_text(MODES)
    words = [binary(), "-q", "-o", "x.db", "modes.py", "x.db"]
    done = run(words, cwd=tmp_path, preexec_fn=lambda: os.umask(0o022))
    assert (done.returncode, done.stdout) == (0, "['0o600', '0o600', '0o600']\n"), done.stderr
    assert stat.S_IMODE((tmp_path / "x.db").stat().st_mode) == 0o600


def test_a_profile_that_is_there_keeps_its_mode(tmp_path):
    (tmp_path / "x.db").touch()
    (tmp_path / "x.db").chmod(0o664)
    done = run([binary(), "-q", "-o", "x.db", "-c", "0"], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "x.db").stat().st_mode) == 0o664


def test_a_profile_behind_a_link_to_nowhere_is_its_users_alone(tmp_path):
    os.symlink(tmp_path / "there.db", tmp_path / "x.db")
    done = run([binary(), "-q", "-o", "x.db", "-c", "0"], cwd=tmp_path, preexec_fn=lambda: os.umask(0o022))
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "there.db").stat().st_mode) == 0o600


@pytest.mark.parametrize("word, meant", [
    ("qqqq", "pieprof --help"),
    ("stats", "pieprof query stats"),
    ("qurey", "pieprof query"),
    ("leaks", "pieprof query leaks"),
    ("train", "pieprof train.py"),
])
def test_a_bare_word_that_is_no_file(tmp_path, word, meant):
    (tmp_path / "train.py").write_text("")
    for words in ([word], ["run", word], ["-o", "x.db", word, "--epochs", "3"]):
        done = run([binary(), *words], cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, ""), "as python3 for a script that is not there"
        assert done.stderr.startswith(f"pieprof: {word}: no such file, and no command; did you mean ")
        assert meant in done.stderr and done.stderr.count("\n") == 1
        assert os.listdir(tmp_path) == ["train.py"]


def make_scripts(folder):
    (folder / "plain").write_text("print('plain')")
    (folder / "package").mkdir()
    (folder / "package/__main__.py").write_text("print('package')")
    (folder / "named.py").write_text("print('named')")
    with zipfile.ZipFile(folder / "zipped", "w") as archive:
        archive.writestr("__main__.py", "print('zipped')")
        archive.writestr("inner/__main__.py", "print('inner')")
    os.symlink(folder / "nowhere", folder / "broken")


@pytest.mark.parametrize("words", [["plain"], ["package"], ["zipped"], ["zipped/inner"], ["-m", "package"], ["-m", "named"], ["-c", "print(1)"],
                                   ["missing.py"], ["./missing"], ["-m", "missing"], ["-"]])
def test_what_python_runs_runs(tmp_path, words):
    make_scripts(tmp_path)
    expected = run([PYTHON, *words], cwd=tmp_path, input="print(2)")
    found = run([binary(), "-q", *words], cwd=tmp_path, input="print(2)")
    assert (found.returncode, found.stdout) == (expected.returncode, expected.stdout)
    assert expected.stderr.replace(PYTHON, "") == found.stderr.replace(PYTHON, "")


def test_called_as_python_a_missing_word_is_pythons_to_judge(tmp_path):
    os.symlink(binary(), tmp_path / "python3")
    expected = run([PYTHON, "stats"], cwd=tmp_path)
    found = run([tmp_path / "python3", "stats"], cwd=tmp_path, env=clean_environment(PIEPROF="1"))
    assert found.returncode == expected.returncode == 2 and "can't open file" in found.stderr


LATE = "stood behind the script and went to it; options of pieprof go before the script"


@pytest.mark.parametrize("script, words, option", [
    ("import sys; print(sys.argv[1:])", ["--no-memory"], "--no-memory"),
    ("import sys; print(sys.argv[1:])", ["4", "-o", "run.db"], "-o"),
    ("import sys; print(sys.argv[1:])", ["--fp-tolerance=1e-9", "--per-process"], "--fp-tolerance=1e-9"),
    ("import sys; print(sys.argv[1:])", ["--", "--no-memory"], None),
    ("import sys; print(sys.argv[1:])", ["-o", "out.txt", "--verbose", "--rate", "3"], None),
    ("import sys; print(sys.argv[1:], '--no-memory')", ["--no-memory"], None),
    ("import sys; use_memory = True; print(sys.argv[1:])", ["--no-memory"], None),
    ("import sys; print(sys.argv[1:], '--output')", ["-o", "run.db"], None),
])
def test_an_option_behind_the_script_gets_one_hint(tmp_path, script, words, option):
    (tmp_path / "train.py").write_text(script)
    expected = run([PYTHON, "train.py", *words], cwd=tmp_path)
    done = run([binary(), "train.py", *words], cwd=tmp_path)
    assert (done.returncode, done.stdout) == (expected.returncode, expected.stdout)
    hints = [line for line in done.stderr.splitlines() if LATE in line]
    assert len(hints) == (option is not None) and all(f"{option} stood" in line for line in hints)
    assert LATE not in run([binary(), "-q", "train.py", *words], cwd=tmp_path).stderr
    assert LATE not in run([binary(), "train.py"], cwd=tmp_path).stderr
    assert not (tmp_path / "run.db").exists()


def test_called_as_python_there_is_no_hint(tmp_path):
    (tmp_path / "train.py").write_text("")
    os.symlink(binary(), tmp_path / "python3")
    done = run([tmp_path / "python3", "train.py", "--no-memory"], cwd=tmp_path, env=clean_environment(PIEPROF="1"))
    assert (done.returncode, done.stderr) == (0, "")
    assert len(query(tmp_path / "pieprof.db", "runs")) == 1


def test_copies_of_a_line_are_what_the_summary_names(tmp_path):
    """Of a line that copies in a library's Python code: it was not found under its own file."""
    if not has_numpy():
        pytest.skip(f"{PYTHON} has no NumPy")
    (tmp_path / "np_append.py").write_text("import numpy as np\n"
                                           "def f():\n"
                                           "    a = np.array([])\n"
                                           "    for i in range(3000):\n"
                                           "        a = np.append(a, np.ones(20))\n"
                                           "f()\n")
    done = run([binary(), "-o", "x.db", "np_append.py"], cwd=tmp_path)
    assert "np_append.py:5: copies" in done.stderr
    own = {r["line"]: r["copy_bytes"] for r in query(tmp_path / "x.db", "own memory")}
    told = [r for r in query(tmp_path / "x.db", "copies in np_append.py") if r["line"] == 5]
    assert all(r["file"] == str(tmp_path / "np_append.py") and r["function"] == "f" for r in told)
    assert sum(r["bytes"] for r in told) == own[5] > 300e6, "3000 copies of 240 kB on average"


def test_a_summary_that_goes_into_a_file_is_not_cut(tmp_path):
    line = "x = " + " + ".join(str(i) for i in range(40)) + "; sum(i * i for i in range(3000000))"
    (tmp_path / "wide.py").write_text(line + "\n")
    done = run([binary(), "-o", "x.db", "wide.py"], cwd=tmp_path)
    assert line in done.stderr and "\u2026" not in done.stderr
