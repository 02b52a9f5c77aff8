# SPDX-License-Identifier: Apache-2.0
"""Interpreters and places that no library can be preloaded into: one line; called as pieprof the status 125, called as
python the program runs unprofiled."""

import os
import shutil
import subprocess

import pytest

import helpers

BUILD = os.environ.get("PIEPROF_BUILD") or os.path.dirname(helpers.binary())
CORE = os.path.join(BUILD, f"libpieprof-{helpers.python_abi()}.so")
LINKER, MUSL = b"/lib64/ld-linux-x86-64.so.2", "ld-musl-x86_64.so.1"
PRINTS = '#include <stdio.h>\nint main(void) { return puts("1") < 0; }\n'
# What a free-threaded CPython 3.13 exports.
FREE = PRINTS + """
    const unsigned long Py_Version = 0x030d00f0;
    int Py_BytesMain(int argc, char **argv) { return 0; }
    void _Py_MergeZeroLocalRefcount(void *object) {}
    """


def compiled(path, text, *options):
    compiler = shutil.which("cc")
    done = compiler and subprocess.run([compiler, "-x", "c", "-", "-o", path, *options], input=text.encode(), capture_output=True)
    if not done or done.returncode:
        pytest.skip(f"needs a C compiler that takes {' '.join(options) or 'a program'}")


def set_user_id(path):
    shutil.copy(os.path.realpath(helpers.PYTHON), path)
    path.chmod(0o4755)


def musl(path):
    """An interpreter whose loader has musl's name: the kernel takes it from the current folder."""
    whole = open(os.path.realpath(helpers.PYTHON), "rb").read()
    assert whole.count(LINKER) == 1
    path.write_bytes(whole.replace(LINKER, MUSL.encode().ljust(len(LINKER), b"\0")))
    path.chmod(0o755)
    (path.parent.parent / MUSL).symlink_to(LINKER.decode())


INTERPRETERS = {
    "set-user-ID": (set_user_id, "is set-user-ID or has capabilities: no library can be preloaded into it"),
    "musl": (musl, "runs on musl: only on the GNU C library can it be profiled"),
    "static": (lambda path: compiled(path, PRINTS, "-static"), "is a static program: nothing can be loaded into it"),
    "stripped": (lambda path: compiled(path, PRINTS, "-s"), "is not CPython, or its symbols were stripped"),
    "free-threaded": (lambda path: compiled(path, FREE, "-rdynamic"), "is a free-threaded Python (3.13t), whose stacks pieprof "
                      "cannot read; take one with the GIL, or 3.14t"),
}


def call(folder, words, executable, *before, **more):
    path = f"{folder}/ours:{folder}/theirs:/usr/bin:/bin"
    env = helpers.clean_environment(**{"_": None, "PIEPROF_OPTS": None, "PIEPROF_CORES": BUILD, "PATH": path, **more})
    if before:
        return helpers.run([*before, executable, *words[1:]], env=env, cwd=folder)
    return helpers.run(words, env=env, cwd=folder, executable=executable)


@pytest.fixture
def folder(tmp_path):
    """Ours is the program under its own name and an interpreter's; theirs is for another interpreter."""
    for name in "ours", "theirs":
        (tmp_path / name).mkdir()
    shutil.copy(os.path.join(BUILD, "pieprof-none"), tmp_path / "ours" / "pieprof")
    (tmp_path / "ours" / "python3").symlink_to("pieprof")
    return tmp_path


def assert_refused(folder, done, why):
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("pieprof: ") and done.stderr.endswith(f"{why}\n") and done.stderr.count("\n") == 1
    assert not list(folder.glob("*.db"))


def assert_unprofiled(folder, done, why):
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
    assert done.stderr.endswith(f"{why}; running unprofiled\n") and done.stderr.count("\n") == 1, done.stderr
    assert not list(folder.glob("*.db"))


@pytest.mark.parametrize("kind", INTERPRETERS)
def test_an_interpreter(folder, kind):
    make, why = INTERPRETERS[kind]
    python = folder / "theirs" / "python3"
    make(python)
    program = ["-c", "print(1)"]
    for pieprof in helpers.binary(), folder / "ours" / "pieprof":
        done = call(folder, ["pieprof", "-o", "x.db", "--python", python, *program], pieprof)
        assert_refused(folder, done, f"{python} {why}")
    done = call(folder, ["python3", *program], folder / "ours" / "python3", PIEPROF="1", PYTHONHOME="/usr")
    assert_unprofiled(folder, done, f"{python} {why}")


NOEXEC = 'mount -t tmpfs -o noexec none "$1" && cp "$2" "$1" && shift 2 && exec "$@"'


def test_cores_on_a_file_system_without_programs(folder):
    """The loader would go on without the core."""
    cores = folder / "cores"
    cores.mkdir()
    mounted = ["unshare", "--mount", "sh", "-c", NOEXEC, "sh", cores, CORE]
    if helpers.run([*mounted, "true"]).returncode:
        pytest.skip("needs the right to mount")
    (folder / "theirs" / "python3").symlink_to(helpers.PYTHON)
    why = f"{cores}/{os.path.basename(CORE)} cannot be loaded (Operation not permitted): is it on a file system that is mounted noexec?"
    more = {"PIEPROF_CORES": str(cores)}
    done = call(folder, ["pieprof", "-o", "x.db", "-c", "print(1)"], folder / "ours" / "pieprof", *mounted, **more)
    assert_refused(folder, done, why)
    done = call(folder, ["python3", "-c", "print(1)"], folder / "ours" / "python3", *mounted, PIEPROF="1", **more)
    assert_unprofiled(folder, done, why)


def test_a_process_that_has_got_rights(folder):
    """The loader takes no library from the environment of one whose group is not that of who started it."""
    program = folder / "ours" / "pieprof"
    try:
        os.chown(program, -1, 65534)
    except PermissionError:
        pytest.skip("needs the right to give a file to another group")
    program.chmod(0o2755)
    (folder / "theirs" / "python3").symlink_to(helpers.PYTHON)
    done = call(folder, ["pieprof", "-o", "x.db", "-c", "print(1)"], program)
    assert_refused(folder, done, "this process runs in secure mode, as with set-user-ID: no library can be preloaded")
