# SPDX-License-Identifier: Apache-2.0
"""The guest form: the user's own python, with the core preloaded into it, is what it is without, and is profiled.

PIEPROF_GUEST_PYTHONS names more interpreters (paths, separated by colons) that there is a core for, in PIEPROF_CORES.
"""

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import textwrap

import pytest

import helpers
from helpers import PYTHON

sys.path.insert(0, str(helpers.ROOT / "bench" / "detection"))
import planted  # noqa: E402

PYTHONS = [PYTHON, *filter(None, os.environ.get("PIEPROF_GUEST_PYTHONS", "").split(":"))]
CORES = {"PIEPROF_CORES": os.environ.get("PIEPROF_CORES")}
WHO = """
    import os, sys
    def strings(name):
        return sorted(filter(None, open(f"/proc/self/{name}", "rb").read().split(b"\\0")))
    print(sys.executable, sys._base_executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.path, sys.flags)
    print(sys.argv, sys.orig_argv, sys.version, sorted(os.environ.items()))
    print(strings("environ"), strings("cmdline"), strings("comm"), os.readlink("/proc/self/exe"))
    """


def environment(**more):
    """Without what a shell adds for the program that it starts."""
    return helpers.clean_environment(_=None, PIEPROF_OPTS=None, **more)


def guest(db, python, *command, options=(), env=None, **more):
    argv = [helpers.binary(), "-q", "-o", db, "--guest", "--python", python, *options, *command]
    return helpers.run(argv, env=env or environment(**CORES), **more)


def write(path, text, mode=0o644):
    path.write_text(textwrap.dedent(text))
    path.chmod(mode)
    return path


def profile(db, python, *command, **more):
    done = guest(db, python, *command, **more)
    assert done.returncode == 0, done.stderr
    return helpers.Profile(db, done)


@pytest.fixture(params=PYTHONS, ids=lambda path: path.replace("/", "_"))
def python(request):
    return request.param


def outcome(done):
    return done.returncode, done.stdout, done.stderr


def same_as_plain(tmp_path, python, *command, env=None):
    """Runs it with and without; returns the profile."""
    env = env or environment(**CORES)
    plain = helpers.run([python, *command], env=env)
    done = guest(tmp_path / "same.db", python, *command, env=env)
    assert outcome(done) == outcome(plain)
    return helpers.Profile(tmp_path / "same.db", done)


@pytest.mark.parametrize("options", [[], ["-I", "-X", "dev"], ["-S", "-u", "-W", "error"]])
def test_it_is_the_interpreter_that_was_named(tmp_path, python, options):
    program = write(tmp_path / "who.py", WHO.rstrip() + "\n    sys.exit(3)\n")
    done = same_as_plain(tmp_path, python, *options, program, "x", "--guest")
    assert os.path.realpath(python) in done.completed.stdout


@pytest.mark.parametrize("options", [[], ["--copies"]])
def test_a_virtual_environment(tmp_path, python, options):
    helpers.run([python, "-m", "venv", "--without-pip", *options, tmp_path / "v"])
    same_as_plain(tmp_path, tmp_path / "v" / "bin" / "python", write(tmp_path / "who.py", WHO))


def test_libraries_that_the_program_preloads_stay(tmp_path, python):
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("needs a C compiler")
    library = tmp_path / "other.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=b"int pie_other = 1;", check=True)
    program = write(tmp_path / "p.py", WHO + """
    import subprocess
    print("other.so" in open("/proc/self/maps").read(), flush=True)
    if sys.argv[1:]:
        subprocess.run([sys.executable, __file__], check=True)
    """)
    env = environment(LD_PRELOAD=str(library), **CORES)
    done = same_as_plain(tmp_path, python, program, "child", env=env)
    assert done.completed.stdout.count("True\n") == 2
    assert len(done.sql("select process from v_process")) == 2


CHILDREN = {
    "subprocess": "subprocess.run([sys.executable, WHO])",
    "empty environment": "subprocess.run([sys.executable, WHO], env={})",
    "preexec": "subprocess.run([sys.executable, WHO], preexec_fn=int)",
    "relative path": "subprocess.run(['./' + os.path.basename(sys.executable), WHO], cwd=os.path.dirname(sys.executable))",
    "script": "subprocess.run([SCRIPT])",
    "script by env": "subprocess.run([SCRIPT_BY_ENV], env={'PATH': os.path.dirname(sys.executable)})",
    "posix_spawn": "os.waitpid(os.posix_spawn(sys.executable, ['x', WHO], os.environ), 0)",
    "file descriptor": "os.execve in os.supports_fd; os.fork() and os.wait() or "
                       "os.execve(os.open(sys.executable, os.O_RDONLY), [sys.executable, WHO], os.environ)",
}


@pytest.mark.parametrize("start", CHILDREN)
def test_children_are_guests_too(tmp_path, python, start):
    who = write(tmp_path / "who.py", WHO)
    name = os.path.basename(python)
    script = write(tmp_path / "script", f"#!{python} -s" + WHO.replace("\n    ", "\n"), 0o755)
    by_env = write(tmp_path / "by_env", f"#!/usr/bin/env {name}" + WHO.replace("\n    ", "\n"), 0o755)
    program = write(tmp_path / "p.py", f"""
        import os, subprocess, sys
        WHO, SCRIPT, SCRIPT_BY_ENV = {str(who)!r}, {str(script)!r}, {str(by_env)!r}
        {CHILDREN[start]}
        """)
    done = same_as_plain(tmp_path, python, program)
    assert done.completed.stdout.count(os.path.realpath(python)) >= 1
    tree = done.sql("select process, parent, cause from v_process order by process")
    assert [row["cause"] for row in tree] in (["exit", "exit"], ["exit", "exec", "exit"]), tree
    assert tree[-1]["parent"] is not None


def test_children_that_are_not_to_be_profiled(tmp_path, python):
    program = write(tmp_path / "p.py", "import subprocess, sys; subprocess.run([sys.executable, '-c', 'print(1)'])")
    done = profile(tmp_path / "x.db", python, program, options=["--no-children"])
    assert done.completed.stdout == "1\n"
    assert len(done.sql("select process from v_process")) == 1


def test_forks_and_process_pools(tmp_path, python):
    program = write(tmp_path / "p.py", """
        import multiprocessing, sys
        def name(x):
            return sys.executable, x
        if __name__ == "__main__":
            for method in "fork", "spawn", "forkserver":
                with multiprocessing.get_context(method).Pool(1) as pool:
                    print(method, pool.map(name, [1]))
        """)
    done = same_as_plain(tmp_path, python, program)
    assert len(done.sql("select process from v_process")) >= 4


ENDS = {
    "status": ("raise SystemExit(7)", 7),
    "_exit": ("import os; os._exit(4)", 4),
    "exception": ("raise KeyError('x')", 1),
    "interrupt": ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT),
    "signal": ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
    "exec": ("import os; os.execv('/bin/sh', ['sh', '-c', 'echo \"$LD_PRELOAD\"; exit 5'])", 5),
}


@pytest.mark.parametrize("end", ENDS)
def test_it_ends_as_it_would(tmp_path, python, end):
    text, status = ENDS[end]
    done = same_as_plain(tmp_path, python, "-c", text)
    assert done.completed.returncode == status
    assert len(helpers.check_file(done.db)) == 1


FIGURES = """
    import hashlib, json, time
    def spin(seconds):
        end, n = time.thread_time() + seconds, 0
        while time.thread_time() < end:  # loop
            n += 1  # count
        return n
    def keep():
        return [bytearray(1 << 20) for _ in range(64)]  # keep
    def copy(source):
        for _ in range(20):
            bytes(source)  # copy
    def again():
        end = time.thread_time() + 1.2
        while time.thread_time() < end:
            hashlib.pbkdf2_hmac("sha256", b"the same", b"each time", 2000)  # again
    spin(0.8)
    kept = keep()
    copy(bytearray(8 << 20))
    again()
    """


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """A profile of FIGURES for each interpreter, made once."""
    made = {}

    def of(python):
        if python not in made:
            folder = tmp_path_factory.mktemp("figures")
            program = write(folder / "figures.py", FIGURES)
            made[python] = program, profile(folder / "x.db", python, program, options=helpers.FIXED_RATES)
        return made[python]

    return of


def test_time_is_told_by_line(figures, python):
    program, done = figures(python)
    lines = {row["line"]: row["cpu_s"] for row in done.lines(program)}
    spun_s = sum(lines.get(helpers.line_of(program, mark), 0) for mark in ("loop", "count"))
    assert spun_s == pytest.approx(0.8, rel=0.15), lines


def test_memory_and_copies_are_told_by_line(figures, python):
    program, done = figures(python)
    rows = done.sql(f"select line, peak_bytes from v_memory where file = '{program}'")
    assert {row["line"]: row["peak_bytes"] for row in rows}[helpers.line_of(program, "keep")] == pytest.approx(64 << 20, rel=0.1)
    (copied,) = done.sql(f"select bytes, estimate from v_copy where file = '{program}' "
                         f"and line = {helpers.line_of(program, 'copy')} and bytes > 1e6")
    assert copied["bytes"] == pytest.approx(20 * (8 << 20), rel=0.1)


def test_redundant_work_is_told_by_line(figures, python):
    program, done = figures(python)
    sampler = done.sql("select sampler, sampler_note from process")[0]
    if sampler["sampler"] == "none":
        pytest.skip(f"memory accesses are not watched here: {sampler['sampler_note']}")
    found = [row for row in done.query("redundancy") if row["file"] == str(program)]
    assert [row["line"] for row in found][:1] == [helpers.line_of(program, "again")], found


COUNTED = WHO + """
    import math
    def work(n):
        return sum(math.cos(i % 7) for i in range(n))  # counted
    print(work(700))
    """


def test_calls_are_counted_in_it(tmp_path, python):
    """By the program that has no Python of its own, so that confirm has to run the interpreter itself."""
    program, env = write(tmp_path / "p.py", COUNTED), environment(**CORES)
    done = profile(tmp_path / "x.db", python, program)
    planted.plant(done.db, program, {helpers.line_of(program, "counted"): planted.REPEATED})
    confirmed = helpers.run([helpers.pathlib.Path(helpers.binary()).parent / "pieprof-none", "confirm", done.db], env=env)
    version = helpers.run([python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]).stdout.strip()
    if version not in ("3.11", "3.12", "3.13"):
        assert (confirmed.returncode, confirmed.stdout, confirmed.stderr.count("\n")) == (1, "", 1)
        assert "Python 3.11 to 3.13 only" in confirmed.stderr
        return
    assert (confirmed.returncode, confirmed.stdout) == (0, helpers.run([python, program], env=env).stdout), confirmed.stderr
    [row] = done.sql("select calls, distinct_args, again from counted where callee = 'math.cos'")
    assert tuple(row.values()) == (700, 7, 693)


def test_what_is_no_python_is_not_confirmed(figures, tmp_path):
    _, done = figures(PYTHON)
    other = shutil.copy(done.db, tmp_path / "other.db")
    with contextlib.closing(sqlite3.connect(other)) as file, file:
        file.execute("UPDATE process SET executable = ?", (shutil.which("env"),))
    told = helpers.run([helpers.binary(), "confirm", other])
    assert (told.returncode, told.stdout, told.stderr.count("\n")) == (1, "", 1)
    assert "is not CPython" in told.stderr


def test_allocators_answer_as_without_us(tmp_path, python):
    """sys._debugmallocstats() looks for pymalloc under its own address."""
    done = profile(tmp_path / "x.db", python, "-c", "import sys; sys._debugmallocstats()")
    assert "Small block threshold = 512" in done.completed.stderr


def refused(tmp_path, python, **more):
    done = guest(tmp_path / "x.db", python, "-c", "print(1)", **more)
    assert (done.returncode, done.stdout) == (125, "")
    assert done.stderr.startswith("pieprof: ") and done.stderr.count("\n") == 1, done.stderr
    assert not (tmp_path / "x.db").exists()
    return done.stderr


def test_what_cannot_take_it_in_is_named(tmp_path):
    assert "there is no no-such-python on the PATH" in refused(tmp_path, "no-such-python")
    assert "is not CPython, or its symbols were stripped" in refused(tmp_path, shutil.which("env"))
    assert "is a script, not the program of an interpreter" in refused(tmp_path, write(tmp_path / "python3", "#!/bin/sh\n", 0o755))
    copy = shutil.copy(os.path.realpath(PYTHON), tmp_path / "python-set-id")
    os.chmod(copy, 0o4755)
    assert "set-user-ID" in refused(tmp_path, copy)


def sanitizer():
    """The path of AddressSanitizer's library, as the compiler has it."""
    compiler = shutil.which("gcc")
    path = compiler and helpers.run([compiler, "-print-file-name=libasan.so"]).stdout.strip()
    if not path or not os.path.isabs(path):
        pytest.skip("no libasan")
    return path


def embedding_program(folder, *options):
    """An interpreter that is linked with libpython."""
    name, flags = f"python3.{helpers.python_minor()}", helpers.run([f"{PYTHON}-config", "--embed", "--includes", "--ldflags"])
    source = b"#include <Python.h>\nint main(int n, char **words) { return Py_BytesMain(n, words); }\n"
    built = subprocess.run(["gcc", *options, "-x", "c", "-", "-o", folder / name, *flags.stdout.split()], input=source,
                           capture_output=True)
    if built.returncode:
        pytest.skip("needs libpython")
    return folder / name


def test_a_program_with_a_sanitizer_is_refused_before_it_runs(tmp_path):
    library = sanitizer()
    for preload in (library, os.path.basename(os.path.realpath(library))):
        told = refused(tmp_path, PYTHON, env=environment(LD_PRELOAD=preload, ASAN_OPTIONS="detect_leaks=0", **CORES))
        assert "LD_PRELOAD has AddressSanitizer's library" in told.replace("\n", "")


def test_an_interpreter_that_is_built_with_a_sanitizer_is_refused(tmp_path):
    sanitizer()
    python = embedding_program(tmp_path, "-fsanitize=address")
    assert "is built with AddressSanitizer" in refused(tmp_path, python)


def test_a_child_with_a_sanitizer_runs_unprofiled(tmp_path):
    program = write(tmp_path / "p.py", f"""
        import os, subprocess, sys
        env = os.environ | {{"LD_PRELOAD": {sanitizer()!r}, "ASAN_OPTIONS": "detect_leaks=0"}}
        print(subprocess.run([sys.executable, "-c", "print(1)"], env=env, capture_output=True, text=True))
        """)
    done = same_as_plain(tmp_path, PYTHON, program)
    assert "returncode=0, stdout='1" in done.completed.stdout
    assert len(done.sql("select process from v_process")) == 1


def test_a_static_program_is_named(tmp_path):
    compiler = shutil.which("cc")
    static = tmp_path / "static"
    built = compiler and subprocess.run([compiler, "-static", "-x", "c", "-", "-o", static],
                                        input=b"int main(void) { return 0; }", capture_output=True)
    if not built or built.returncode:
        pytest.skip("needs a C compiler and a static C library")
    assert "is a static program: nothing can be loaded into it" in refused(tmp_path, static)


def test_without_a_core_the_others_are_named(tmp_path):
    alone = tmp_path / "bin" / "pieprof"
    alone.parent.mkdir()
    shutil.copy(helpers.binary(), alone)
    (tmp_path / "cores").mkdir()
    for abi in "3.99", "3.98t":
        (tmp_path / "cores" / f"libpieprof-{abi}.so").touch()
    for cores, named in ((None, "none"), (str(tmp_path / "cores"), "3.98t, 3.99")):
        done = helpers.run([alone, "--guest", "--python", PYTHON, "-c", "print(1)"], env=environment(PIEPROF_CORES=cores))
        assert (done.returncode, done.stdout) == (125, "")
        assert done.stderr.endswith(f"for which this pieprof has no core; it has: {named}\n"), done.stderr


def test_the_version_of_a_program_without_a_python_names_its_cores(tmp_path):
    if helpers.has_own_python():
        pytest.skip("this program has a Python of its own")
    for abi in "3.99", "3.98t":
        (tmp_path / f"libpieprof-{abi}.so").touch()
    done = helpers.run([helpers.binary(), "--version"], env=environment(PIEPROF_CORES=str(tmp_path)))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("pieprof ") and "(cores for Python 3.98t, 3.99" in done.stdout


def test_a_core_that_cannot_be_named_to_the_loader(tmp_path):
    folder = tmp_path / "a folder"
    folder.mkdir()
    core = next(p for p in (helpers.pathlib.Path(helpers.binary()).parent).glob(f"libpieprof-{helpers.python_abi()}.so"))
    shutil.copy(core, folder)
    env = environment(PIEPROF_CORES=str(folder))
    done = helpers.run([helpers.binary(), "--guest", "-c", "print(1)"], env=env)
    assert (done.returncode, done.stdout) == (125, "") and "blanks and colons" in done.stderr


def test_the_form_follows_from_the_interpreter(tmp_path):
    """Its own one it stands for itself, unless --guest is given."""
    image = ["-c", "import os; print(os.readlink('/proc/self/exe'))"]
    for options, expected in (((), helpers.binary()), (("--guest",), os.path.realpath(PYTHON))):
        done = helpers.run([helpers.binary(), "-q", "-o", tmp_path / "x.db", "--python", PYTHON, *options, *image],
                           env=environment())
        assert (done.returncode, done.stdout, done.stderr) == (0, expected + "\n", "")


def test_traced_loops_and_the_module(tmp_path, python):
    program = write(tmp_path / "p.py", """
        import json, pieprof
        n = sum(1 for _ in pieprof.loop(range(50)))
        print(json.dumps({"n": n}))
        """)
    done = profile(tmp_path / "x.db", python, program)
    assert json.loads(done.completed.stdout) == {"n": 50}
