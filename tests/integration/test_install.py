# SPDX-License-Identifier: Apache-2.0
"""`pieprof install` and `pieprof uninstall`: environments and prefixes whose python is pieprof.

What an interpreter says before, while and after it is replaced is compared as it stands; so are the folders.
"""

import os
import pathlib
import shutil
import stat
import subprocess
import tempfile
import textwrap

import pytest

import helpers
from test_venv import call, write_project

WHO = ("import sys, sysconfig; print(sys.executable, sys._base_executable, sys.prefix, sys.base_prefix, sys.exec_prefix,"
       " sys.base_exec_prefix, sys.path, sys.orig_argv, sys.flags, sys.version, sysconfig.get_paths())")
QUESTIONS = [["-c", WHO], ["-I", "-c", WHO], ["-S", "-c", WHO], ["-V"], ["-VV"], ["-m", "site"], ["-m", "pip", "--version"],
             ["-c", "1/0"], ["-c", "import sys; sys.exit(3)"], ["--no-such-option"], ["-h"]]
VENVS = {"plain": [], "copies": ["--copies"], "symlinks": ["--symlinks"], "system": ["--system-site-packages"]}
IMAGE = "import os; print(os.readlink('/proc/self/exe'))"


def state(folder):
    """Everything about the entries of a folder that restoring must bring back."""
    found = {}
    for path in sorted(pathlib.Path(folder).iterdir()):
        st = os.lstat(path)
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
        found[path.name] = (stat.filemode(st.st_mode), st.st_ino, st.st_uid, st.st_gid, st.st_nlink, st.st_size, st.st_mtime_ns,
                            content)
    return found


def answers(python, questions=tuple(map(tuple, QUESTIONS))):
    return [(q, done.returncode, done.stdout, done.stderr) for q in questions
            for done in [helpers.run([python, *q], timeout=60)]]


def make_venv(folder, *options, python=helpers.PYTHON, pip=False):
    call([python, "-m", "venv", *([] if pip else ["--without-pip"]), *options, folder])
    return folder


def make_prefix(folder):
    """A prefix of its own: the interpreter's bytes, and the library by a link."""
    version = "python" + call([helpers.PYTHON, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).strip()
    (folder / "bin").mkdir(parents=True)
    (folder / "lib").mkdir()
    shutil.copy2(os.path.realpath(helpers.PYTHON), folder / "bin" / version)
    library = call([helpers.PYTHON, "-c", "import os; print(os.path.dirname(os.__file__))"]).strip()
    (folder / "lib" / version).symlink_to(library)
    (folder / "bin" / "python3").symlink_to(version)
    (folder / "bin" / "python").symlink_to("python3")
    return folder


def make(kind, folder):
    if kind == "prefix":
        return make_prefix(folder)
    if kind == "nested":
        outer = make_venv(folder.with_name("outer"))
        return make_venv(folder, python=outer / "bin" / "python")
    return make_venv(folder, *VENVS[kind])


KINDS = [*VENVS, "nested", "prefix"]


@pytest.fixture(params=KINDS)
def place(request, tmp_path):
    return make(request.param, tmp_path / "v")


def pythons(place):
    return [p for p in sorted((place / "bin").glob("python*")) if "-" not in p.name]


def image(python):
    return call([python, "-c", IMAGE]).strip()


def is_pieprof(python):
    done = helpers.run([python, "-c", "import os; print(b'pieprof_' in open('/proc/self/exe', 'rb').read())"])
    return done.stdout == "True\n"


def test_it_answers_as_the_real_one_and_comes_back(pieprof, place):
    before, real = state(place / "bin"), {p: answers(p) for p in pythons(place)}
    assert not any(map(is_pieprof, real))
    said = call([pieprof, "install", place])
    assert len(said.splitlines()) == len(real)
    assert {p: answers(p) for p in pythons(place)} == real
    assert all(map(is_pieprof, real))
    installed = state(place / "bin")
    again = call([pieprof, "install", place])
    assert "pieprof already" in again and state(place / "bin") == installed
    assert call([pieprof, "uninstall", place])
    assert state(place / "bin") == before
    assert call([pieprof, "uninstall", place]) == f"{place}: nothing to put back\n"
    assert state(place / "bin") == before and not any(map(is_pieprof, real))


def test_the_folder_of_programs_itself(pieprof, tmp_path):
    venv = make_venv(tmp_path / "v")
    before = state(venv / "bin")
    call([pieprof, "install", venv / "bin"])
    assert is_pieprof(venv / "bin" / "python")
    call([pieprof, "uninstall", venv / "bin"])
    assert state(venv / "bin") == before


@pytest.mark.parametrize("kind", ["plain", "copies"])
def test_it_profiles_only_when_asked(pieprof, tmp_path, kind):
    venv = make(kind, tmp_path / "v")
    call([pieprof, "install", venv])
    python, code = venv / "bin" / "python", "import subprocess, sys; subprocess.check_call([sys.executable, '-c', '1'])"
    call([python, "-c", code], cwd=tmp_path)
    call([python, "-c", code], cwd=tmp_path, environment={"PIEPROF": "0"})
    assert not list(tmp_path.glob("*.db"))
    call([python, "-c", code], cwd=tmp_path, environment={"PIEPROF": "1"})
    assert [r["processes"] for r in helpers.check_file(tmp_path / "pieprof.db")] == [2]
    call([python, "-c", code], cwd=tmp_path, environment={"PIEPROF_OUTPUT": "other.db"})
    assert [r["processes"] for r in helpers.check_file(tmp_path / "other.db")] == [2]
    # The interpreter that it stands for is followed too.
    real = f"import subprocess; subprocess.check_call([{helpers.PYTHON!r}, '-c', '1'])"
    call([python, "-c", real], cwd=tmp_path, environment={"PIEPROF_OUTPUT": "real.db"})
    assert [r["processes"] for r in helpers.check_file(tmp_path / "real.db")] == [2]
    # So it is where the environment is only activated.
    call([pieprof, "-q", "-o", "activated.db", "-c", real], cwd=tmp_path, environment={"VIRTUAL_ENV": str(venv)})
    assert [r["processes"] for r in helpers.check_file(tmp_path / "activated.db")] == [2]


def configuration(venv):
    """Without what os.path.realpath(sys.executable) was: where links are replaced by links, that is what they lead
    to."""
    lines = (venv / "pyvenv.cfg").read_text().splitlines()
    assert [line.split(" = ")[0] for line in lines].count("executable") == 1
    return [line for line in lines if not line.startswith("executable = ")]


def test_environments_made_in_it(pieprof, tmp_path):
    made = []
    venv, inner = make_venv(tmp_path / "v"), tmp_path / "inner"
    for i in range(2):
        for options in VENVS.values():
            shutil.rmtree(inner, ignore_errors=True)
            make_venv(inner, *options, python=venv / "bin" / "python")
            made.append((i, [(p.name, os.path.realpath(p)) for p in pythons(inner)],
                         configuration(inner), answers(inner / "bin" / "python")))
        if i == 0:
            call([pieprof, "install", venv])
    half = len(made) // 2
    assert [m[1:] for m in made[:half]] == [m[1:] for m in made[half:]]


@pytest.mark.parametrize("kind", ["plain", "copies"])
def test_pip_and_console_scripts(pieprof, tmp_path, kind):
    venv = make_venv(tmp_path / "v", *VENVS[kind], "--system-site-packages")
    call([pieprof, "install", venv])
    python = venv / "bin" / "python"
    call([python, "-m", "ensurepip"])
    write_project(tmp_path / "project")
    call([python, "-m", "pip", "install", "--no-index", "--no-build-isolation", tmp_path / "project"])
    script = venv / "bin" / "hello"
    assert script.read_text().splitlines()[0] == f"#!{python}"
    assert call([script]) == f"hello from {python} {venv}\n"
    assert call([script], environment={"PIEPROF_OUTPUT": str(tmp_path / "x.db")}) == f"hello from {python} {venv}\n"
    assert len(helpers.check_file(tmp_path / "x.db")) == 1
    call([pieprof, "uninstall", venv])
    assert call([script]) == f"hello from {python} {venv}\n"


def refused(pieprof, *words, **more):
    done = helpers.run([pieprof, *words], **more)
    assert done.returncode in (1, 2) and done.stdout == "" and done.stderr.count("\n") == 1, done
    return done.stderr


def test_what_it_refuses(pieprof, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "no virtual environment or prefix" in refused(pieprof, "install", tmp_path / "empty")
    assert "No such file" in refused(pieprof, "install", tmp_path / "missing")
    assert "No such file" in refused(pieprof, "uninstall", tmp_path / "missing")
    assert "usage" in refused(pieprof, "install")
    assert "usage" in refused(pieprof, "uninstall", "a", "b")
    other = tmp_path / "other"
    (other / "bin").mkdir(parents=True)
    (other / "pyvenv.cfg").write_text("home = /nowhere\n")
    shutil.copy2("/bin/sh", other / "bin" / "python3.99")
    (other / "bin" / "python3").symlink_to("python3.99")
    before = state(other / "bin")
    assert "not the Python that this pieprof is built for" in refused(pieprof, "install", other)
    assert state(other / "bin") == before
    theirs = tmp_path / "theirs"
    (theirs / "bin").mkdir(parents=True)
    (theirs / "bin" / "python3").symlink_to(pieprof)
    before = state(theirs / "bin")
    assert "pieprof already" in refused(pieprof, "install", theirs)
    assert call([pieprof, "uninstall", theirs]) and state(theirs / "bin") == before


def test_a_folder_that_may_not_be_written(pieprof, python_for_all):
    with tempfile.TemporaryDirectory() as folder:
        venv = make_venv(pathlib.Path(folder) / "v")
        os.chmod(folder, 0o755)
        before = state(venv / "bin")
        user = {"user": 65534} if os.getuid() == 0 else {}
        os.chmod(venv / "bin", 0o555)
        try:
            assert "cannot be changed" in refused(pieprof, "install", venv, **user)
        except PermissionError:
            pytest.skip(f"{pieprof} is where user 65534 cannot run it")
        assert state(venv / "bin") == before


def test_what_came_there_since_is_left(pieprof, tmp_path):
    venv = make_venv(tmp_path / "v", "--copies")
    call([pieprof, "install", venv])
    python = venv / "bin" / "python"
    os.replace(shutil.copy2("/bin/sh", tmp_path / "sh"), python)
    bytes_now = python.read_bytes()
    assert "another interpreter now" in helpers.run([pieprof, "uninstall", venv]).stderr
    assert python.read_bytes() == bytes_now
    # And an upgraded interpreter that fits is what comes back from then on.
    os.replace(shutil.copy2(os.path.realpath(helpers.PYTHON), tmp_path / "new"), python)
    call([pieprof, "install", venv])
    assert is_pieprof(python)
    call([pieprof, "uninstall", venv])
    assert not is_pieprof(python) and not list((venv / "bin").glob("*pieprof*"))


def test_a_pieprof_that_went_away_is_undone_by_another(pieprof, tmp_path):
    venv = make_venv(tmp_path / "v")
    before = state(venv / "bin")
    gone = shutil.copy2(pieprof, tmp_path / "pieprof")
    call([gone, "install", venv])
    os.unlink(gone)
    call([pieprof, "install", venv])
    assert image(venv / "bin" / "python") == os.path.realpath(pieprof)
    call([pieprof, "uninstall", venv])
    assert state(venv / "bin") == before


CALLS = ["linkat", "link", "symlink", "symlinkat", "rename", "unlink", "sendfile", "fsync", "fchmod", "utimensat", "chmod"]


def interrupted(pieprof, command, venv, how, call_name, step, log):
    """Runs a command whose step-th call of this name is interrupted. Returns whether it was."""
    done = helpers.run(["strace", "-qq", "-o", log, "-e", f"trace={call_name}", "-e", f"inject={call_name}:{how}:when={step}",
                        pieprof, command, venv])
    if "ptrace" in done.stderr:
        pytest.skip(done.stderr.strip())
    if how.startswith("error"):
        return "INJECTED" in log.read_text()
    assert done.returncode in (0, -9), done
    return done.returncode == -9


@pytest.mark.skipif(not shutil.which("strace"), reason="strace is not installed")
@pytest.mark.parametrize("how", ["signal=KILL", "error=EIO"])
@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("kind", ["plain", "copies"])
def test_interrupted_at_each_step(pieprof, tmp_path, kind, command, how):
    venv, steps = make(kind, tmp_path / "v"), 0
    python, before = venv / "bin" / "python3", state(venv / "bin")
    for call_name in CALLS:
        for step in range(1, 20):
            if command == "uninstall":
                call([pieprof, "install", venv])
            if not interrupted(pieprof, command, venv, how, call_name, step, tmp_path / "log"):
                break
            steps += 1
            assert call([python, "-c", "print(1)"]) == "1\n"
            if steps % 2:
                call([pieprof, "install", venv])
                assert is_pieprof(python)
            call([pieprof, "uninstall", venv])
            after = state(venv / "bin")
            if (how, call_name) == ("error=EIO", "linkat"):  # what is kept is a copy then: another inode
                after, before = ({n: (s[0], *s[2:]) for n, s in x.items()} for x in (after, before))
                assert after == before
                before = state(venv / "bin")
            assert state(venv / "bin") == before
        call([pieprof, "uninstall", venv])
        assert state(venv / "bin") == before
    assert steps >= (6 if command == "install" else 2)


def from_pypi(venv, *names):
    done = subprocess.run([venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *names],
                          capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        pytest.skip(f"PyPI is not reached: {(done.stderr.strip().splitlines() or ['?'])[-1]}")


@pytest.mark.skipif("PIEPROF_PYPI" not in os.environ, reason="PIEPROF_PYPI=1 runs it: it loads packages from PyPI")
def test_tox_and_uv(pieprof, tmp_path):
    venv = make_venv(tmp_path / "v", pip=True)
    call([pieprof, "install", venv])
    from_pypi(venv, "tox", "uv")
    write_project(tmp_path / "project")
    (tmp_path / "project" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n')
    (tmp_path / "project" / "tox.ini").write_text(textwrap.dedent("""
        [testenv]
        commands = hello
            python -c "import sys, hello; print('tox', sys.prefix)"
        """))
    said = call([venv / "bin" / "tox", "-r"], cwd=tmp_path / "project")
    assert f"tox {tmp_path}/project/.tox/py" in said and "congratulations" in said
    uv = venv / "bin" / "uv"
    call([uv, "venv", "--python", venv / "bin" / "python", tmp_path / "u"])
    inner = tmp_path / "u" / "bin" / "python"
    call([pieprof, "install", tmp_path / "u"])
    call([uv, "pip", "install", "--python", inner, tmp_path / "project"])
    assert is_pieprof(inner)
    assert call([tmp_path / "u" / "bin" / "hello"]).endswith(f"{inner} {tmp_path}/u\n")
    call([pieprof, "uninstall", tmp_path / "u"])
    call([pieprof, "uninstall", venv])
    assert call([tmp_path / "u" / "bin" / "hello"]).endswith(f"{inner} {tmp_path}/u\n")
