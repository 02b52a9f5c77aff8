# SPDX-License-Identifier: Apache-2.0
"""Whose Python is meant, and which one it is by its bytes: interpreters of this machine and made-up ones."""

import errno
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

PROBE, SOURCE = os.environ["PROBE"], pathlib.Path(__file__).parent
SYSTEM = "/usr/bin/python3"
PYENV = {pathlib.Path(path).parents[1].name: path
         for path in glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3"))}


def probe(*words, cwd=None):
    done = subprocess.run([PROBE, *map(str, words)], capture_output=True, text=True, timeout=20, cwd=cwd)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert done.returncode == ("error" in found)
    return found


def choose(**wish):
    return probe("--choose", *(f"{name}={value}" for name, value in wish.items()))


def refusal(path):
    found = probe(path)
    assert "\n" not in found["why"]
    return errno.errorcode[-found["error"]], found["why"].replace(str(path), "P")


def identity(path):
    """The truth, which the interpreter itself tells."""
    code = ("import sys; print('%d.%d%s' % (*sys.version_info[:2], sys.abiflags), "
            "'shared' if 'libpython' in open('/proc/self/maps').read() else 'static')")
    return subprocess.run([path, "-I", "-c", code], capture_output=True, text=True, timeout=20, check=True).stdout.split()


@pytest.fixture(scope="module")
def fakes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fakes")
    (folder / "library.c").write_text("int Py_BytesMain(void);\nint Py_BytesMain(void) { return 0; }\n")
    made = {}

    def compile_(name, *arguments):
        made[name] = folder / name
        subprocess.run(["gcc", "-o", folder / name, *arguments], check=True, timeout=60)

    def static(name, *arguments):
        compile_(name, SOURCE / "fake.c", "-rdynamic", *arguments)

    def shared(name, soname):
        compile_(name + ".so", "-shared", "-fPIC", f"-Wl,-soname,{soname}", folder / "library.c")
        compile_(name, SOURCE / "fake.c", "-DSTRIPPED", "-Wl,--no-as-needed", made[name + ".so"])

    static("3.13t", "-DVERSION=0x030d01f0", "-DFREE_THREADED")
    static("3.14td", "-DVERSION=0x030e00a1", "-DFREE_THREADED", "-DDEBUG", "-no-pie")
    static("musl", "-DVERSION=0x030c00f0", "-Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1")
    static("nix", "-DVERSION=0x030c00f0", "-Wl,--dynamic-linker=/nix/store/abc-glibc-2.40/lib/ld-linux-x86-64.so.2")
    static("ours", "-DVERSION=0x030b00f0", "-Wl,--dynamic-linker=/lib/ld-odd.so")
    static("before 3.11")
    static("4.0", "-DVERSION=0x040000f0")
    static("stripped", "-DSTRIPPED", "-DVERSION=0x030b00f0")
    static("alone", "-DVERSION=0x030b00f0", "-static")
    shared("shared 3.15t", "libpython3.15t.so.1.0")
    shared("with a path", "$ORIGIN/../lib/libpython3.11.so.1.0")
    shared("shared 2.7", "libpython2.7.so.1.0")
    shared("shared 3.7m", "libpython3.7m.so.1.0")
    shared("pypy", "libpypy3.10-c.so")
    return made


def test_the_systems_interpreter():
    found = probe(SYSTEM)
    assert found["path"] == SYSTEM and found["real"] == os.path.realpath(SYSTEM)
    assert [found["abi"], found["linkage"], found["libc"]] == [*identity(SYSTEM), "glibc"]


@pytest.mark.skipif(not PYENV, reason="no interpreters of pyenv")
def test_interpreters_of_pyenv():
    for name, path in PYENV.items():
        major, minor = map(int, name.split(".")[:2])
        if minor >= 11:
            found = probe(path)
            assert [found["abi"], found["linkage"], found["libc"]] == [*identity(path), "glibc"]
        else:
            assert refusal(path) == ("ENOTSUP", f"P is Python {major}.{minor}; pieprof needs 3.11 or later")


def test_made_up_interpreters(fakes):
    kind = {name: tuple(probe(path)[key] for key in ("abi", "linkage", "libc"))
            for name, path in fakes.items() if name in (
                "3.13t", "3.14td", "musl", "nix", "ours", "4.0", "shared 3.15t", "with a path")}
    assert kind == {
        "3.13t": ("3.13t", "static", "glibc"), "3.14td": ("3.14td", "static", "glibc"),
        "musl": ("3.12", "static", "musl"), "nix": ("3.12", "static", "glibc"), "ours": ("3.11", "static", "other"),
        "4.0": ("4.0", "static", "glibc"), "shared 3.15t": ("3.15t", "shared", "glibc"),
        "with a path": ("3.11", "shared", "glibc")}


def test_what_is_no_interpreter_to_load_into(fakes, tmp_path):
    def file(name, content):
        (tmp_path / name).write_bytes(content)
        (tmp_path / name).chmod(0o755)
        return tmp_path / name

    program = fakes["3.13t"].read_bytes()
    assert refusal(fakes["before 3.11"]) == ("ENOTSUP", "P is a Python before 3.11; pieprof needs 3.11 or later")
    assert refusal(fakes["shared 2.7"]) == ("ENOTSUP", "P is Python 2.7; pieprof needs 3.11 or later")
    assert refusal(fakes["shared 3.7m"]) == ("ENOTSUP", "P is Python 3.7; pieprof needs 3.11 or later")
    assert refusal(fakes["stripped"]) == ("ENOTSUP", "P is not CPython, or its symbols were stripped")
    assert refusal(fakes["alone"]) == ("ENOTSUP", "P is a static program: nothing can be loaded into it")
    assert refusal(fakes["pypy"]) == ("ENOTSUP", "P is PyPy; pieprof profiles CPython only")
    assert refusal("/bin/true") == ("ENOTSUP", "P is not CPython, or its symbols were stripped")
    assert refusal(file("script", b"#!/bin/sh\nexec python3\n")) == (
        "ENOEXEC", "P is a script, not the program of an interpreter")
    assert refusal(file("empty", b"")) == ("ENOEXEC", "P is not a program, or is damaged")
    assert refusal(file("text", b"no program\n" * 100)) == ("ENOEXEC", "P is not a program, or is damaged")
    assert refusal(file("arm", program[:18] + b"\xb7\0" + program[20:])) == ("ENOEXEC", "P is not a program for x86-64")
    assert refusal(file("32 bits", program[:4] + b"\1" + program[5:]))[0] == "ENOEXEC"
    assert refusal(tmp_path) == ("ENOEXEC", "P is not a file")
    assert refusal(tmp_path / "none") == ("ENOENT", "P cannot be read: No such file or directory")
    (tmp_path / "loop").symlink_to("loop")
    assert refusal(tmp_path / "loop") == ("ELOOP", "P cannot be read: Too many levels of symbolic links")
    assert refusal(tmp_path / ("x" * 5000))[0] == "ENAMETOOLONG"
    os.mkfifo(tmp_path / "pipe")
    assert refusal(tmp_path / "pipe") == ("ENOEXEC", "P is not a file")
    (tmp_path / "plain").write_bytes(program)
    assert refusal(tmp_path / "plain") == ("EACCES", "P may not be executed")


def test_damaged_programs_end_in_a_line(fakes, tmp_path):
    """Cut off at 40 places, and with words of the headers overwritten: an answer or a refusal, never a crash."""
    program, path = fakes["3.13t"].read_bytes(), tmp_path / "program"
    for i in range(40):
        path.write_bytes(program[:len(program) * i // 40])
        path.chmod(0o755)
        assert "error" in probe(path) or i > 30
    for at in range(16, 800, 12):
        path.write_bytes(program[:at] + b"\xff\xff\xff\x7f" + program[at + 4:])
        found = probe(path)
        assert "why" in found or found["linkage"] == "static"


@pytest.fixture(scope="module")
def venv(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work") / ".venv"
    subprocess.run([SYSTEM, "-m", "venv", "--without-pip", folder], check=True, timeout=60)
    return folder


def taken(**wish):
    found = choose(**wish)
    return (found["source"], found["path"], found["passed"]) if "path" in found else found["why"]


def test_the_order(venv, fakes, tmp_path):
    inner = venv.parent / "a" / "b"
    inner.mkdir(parents=True, exist_ok=True)
    other, conda, bin_ = tmp_path / "env", tmp_path / "conda", tmp_path / "path"
    for folder, name in ((other, "bin/python"), (conda, "bin/python"), (bin_, "python3")):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(fakes["3.13t"], folder / name)
    wish = {"option": SYSTEM, "virtual_env": other, "folder": inner, "conda_prefix": conda, "search_path": bin_}
    assert taken(**wish) == ("option", SYSTEM, "")
    del wish["option"]
    assert taken(**wish) == ("VIRTUAL_ENV", f"{other}/bin/python", "")
    del wish["virtual_env"]
    found = choose(**wish)
    assert (found["source"], found["path"]) == (".venv", f"{venv}/bin/python")
    assert found["real"] == os.path.realpath(SYSTEM)
    wish["folder"] = "/nowhere"
    assert taken(**wish) == ("conda", f"{conda}/bin/python", "")
    del wish["conda_prefix"]
    assert taken(**wish) == ("PATH", f"{bin_}/python3", "")
    assert taken(folder="/nowhere") == "there is no python3 on the PATH; name one with --python"


def test_forms_of_the_option(venv, fakes, tmp_path):
    shutil.copy(fakes["3.13t"], tmp_path / "python3.13t")
    assert taken(option=venv) == ("option", f"{venv}/bin/python3", "")
    assert taken(option="python3.13t", search_path=tmp_path) == ("option", f"{tmp_path}/python3.13t", "")
    assert taken(option="3.13t", search_path=tmp_path) == ("option", f"{tmp_path}/python3.13t", "")
    assert taken(option="3.99", search_path=tmp_path) == "there is no python3.99 on the PATH; name one with --python"
    assert taken(option=tmp_path / "none") == f"{tmp_path}/none cannot be read: No such file or directory"


def test_what_is_named_is_never_passed_over(tmp_path):
    broken = tmp_path / ".venv" / "bin"
    broken.mkdir(parents=True)
    gone = "cannot be read: No such file or directory"
    assert taken(virtual_env=broken.parent, search_path="/usr/bin") == f"{broken}/python {gone}"
    assert taken(folder=tmp_path, search_path="/usr/bin") == ("PATH", SYSTEM, "")  # no environment of Python
    (broken / "python").symlink_to("/nowhere/python3")
    assert taken(folder=tmp_path, search_path="/usr/bin") == f"{broken}/python {gone}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder away")
def test_an_environment_of_another_user_is_not_taken(venv, tmp_path):
    shutil.copytree(venv, tmp_path / ".venv", symlinks=True)
    os.chown(tmp_path / ".venv", 12345, 12345)
    assert taken(folder=tmp_path, search_path="/usr/bin") == (
        "PATH", SYSTEM, f"{tmp_path}/.venv belongs to another user")


def test_scripts_and_ourselves_are_passed_over(fakes, tmp_path):
    for name in "script", "ours", "installed":
        (tmp_path / name).mkdir()
    (tmp_path / "script" / "python3").write_text("#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n")
    (tmp_path / "script" / "python3").chmod(0o755)
    (tmp_path / "ours" / "python3").symlink_to(fakes["3.13t"])
    (tmp_path / "installed" / "python3").symlink_to(os.environ["PIEPROF"])
    path = os.pathsep.join(str(tmp_path / name) for name in ("script", "ours", "installed")) + ":/usr/bin"
    assert taken(search_path=path, self=fakes["3.13t"]) == (
        "PATH", SYSTEM, f"{tmp_path}/script/python3 is a script, not the program of an interpreter")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python").symlink_to(os.environ["PIEPROF"])
    assert taken(virtual_env=tmp_path).endswith("name another with --python")


@pytest.fixture
def pyenv(fakes, tmp_path):
    """A root of pyenv with scripts that would say so if they were run."""
    root = tmp_path / "pyenv"
    for version in "3.11.7", "3.12.1", "3.12.10", "3.12-dev":
        (root / "versions" / version / "bin").mkdir(parents=True)
        (root / "versions" / version / "bin" / "python3").symlink_to(SYSTEM)
    (root / "shims").mkdir()
    (root / "shims" / "python3").write_text("#!/bin/sh\necho run >&2\n")
    (root / "shims" / "python3").chmod(0o755)
    (tmp_path / "project" / "src").mkdir(parents=True)
    return root


def test_scripts_of_pyenv_are_resolved(pyenv, tmp_path):
    project = tmp_path / "project"
    shim, path = pyenv / "shims" / "python3", f"{pyenv}/shims:/usr/bin"

    def version(**wish):
        found = taken(search_path=path, folder=project / "src", **wish)
        name = re.fullmatch(rf"{re.escape(str(pyenv))}/versions/(.*)/bin/python3", found[1])
        return (name[1] if name else found[1]), found[2]

    assert version() == (SYSTEM, "")  # no version is set
    (pyenv / "version").write_text("3.11.7\n")
    assert version() == ("3.11.7", "")
    (project / ".python-version").write_text("# the project's\n3.12\n")
    assert version() == ("3.12.10", "")
    (project / ".python-version").write_text("3.13.9 3.12.1\n")
    assert version() == ("3.12.1", "")
    assert version(pyenv_version="3.12-dev") == ("3.12-dev", "")
    assert version(pyenv_version="system") == (SYSTEM, "")
    assert version(pyenv_version="3.13") == (SYSTEM, f"{shim} is pyenv's, whose version 3.13 is not installed")
    assert version(pyenv_version="../../x") == (SYSTEM, f"{shim} is pyenv's, whose version ../../x is not installed")
    assert version(option=shim) == ("3.12.1", "")
    assert taken(option=shim, pyenv_version="system").endswith("is pyenv's, which starts no version of its own here")
