# SPDX-License-Identifier: Apache-2.0
"""Virtual environments are what they are under python3: made by it, made by somebody else, nested, copied.

A real interpreter and this program make an environment in the same place one after the other, so that what they write
and print can be compared as it stands.
"""

import os
import shutil
import textwrap

import pytest

import helpers

WHO = "import sys; print(sys.executable, sys._base_executable, sys.prefix, sys.base_prefix, sys.exec_prefix, sys.path)"
PROGRAM = """
    import multiprocessing as mp, subprocess, sys
    def who(x):
        return sys.executable, sys.prefix
    if __name__ == "__main__":
        for method in "fork", "spawn", "forkserver":
            with mp.get_context(method).Pool(1) as pool:
                print(method, pool.map(who, [1]))
        print(subprocess.check_output([sys.executable, "-c", "import sys; print(sys.executable, sys.prefix)"]))
    """
# It builds itself: environments of Python 3.12 and later have no setuptools.
PROJECT = {
    "pyproject.toml": """
        [build-system]
        requires = []
        build-backend = "build"
        backend-path = ["."]
        """,
    "build.py": r"""
        import pathlib, zipfile

        METADATA = {
            "METADATA": "Metadata-Version: 2.1\nName: hello\nVersion: 1\n",
            "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            "entry_points.txt": "[console_scripts]\nhello = hello:main\n",
            "RECORD": "",
        }

        def build_wheel(folder, settings=None, metadata=None):
            with zipfile.ZipFile(pathlib.Path(folder, "hello-1-py3-none-any.whl"), "w") as wheel:
                wheel.write("hello/__init__.py")
                for name, text in METADATA.items():
                    wheel.writestr("hello-1.dist-info/" + name, text)
            return "hello-1-py3-none-any.whl"
        """,
    "hello/__init__.py": "import sys\ndef main():\n    print('hello from', sys.executable, sys.prefix)\n",
    "setup.py": """
        from setuptools import setup
        setup(name="hello", version="1", packages=["hello"], entry_points={"console_scripts": ["hello=hello:main"]})
        """,
}


def call(argv, **more):
    env = helpers.clean_environment(PIP_FIND_LINKS=None, PIP_CONFIG_FILE=os.devnull, PIP_DISABLE_PIP_VERSION_CHECK="1",
                                    **more.pop("environment", {}))
    done = helpers.run(argv, env=env, timeout=300, **more)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture
def as_python(pieprof, tmp_path):
    """The words that start each of the two as python3 in the same place: the real one, and ours while it profiles."""
    link = tmp_path / "bin" / "python3"
    link.parent.mkdir()
    link.symlink_to(pieprof)
    return lambda *argv: call([helpers.PYTHON, *argv], executable=str(link), cwd=tmp_path,
                              environment={"PIEPROF": "1", "PIEPROF_OUTPUT": str(tmp_path / "x.db")})


@pytest.fixture
def as_pieprof(pieprof, tmp_path):
    return lambda *argv, **more: call([pieprof, "-q", "-o", tmp_path / "x.db", *argv], cwd=tmp_path, **more)


def real(*argv, **more):
    return call([helpers.PYTHON, *argv], **more)


def described(venv):
    """Everything in an environment that says who made it: links, configuration and scripts."""
    found = {}
    for path in sorted(venv.rglob("*")):
        name = str(path.relative_to(venv))
        if path.is_symlink():
            found[name] = "-> " + os.readlink(path)
        elif path.is_file() and (path.parent.name == "bin" or path.name == "pyvenv.cfg"):
            found[name] = path.read_bytes()
    return found


@pytest.mark.parametrize("options", [[], ["--copies"], ["--system-site-packages"]])
def test_it_makes_what_python_makes(as_python, as_pieprof, tmp_path, options):
    venv = tmp_path / "v"
    made = []
    for maker in real, as_python, as_pieprof:
        shutil.rmtree(venv, ignore_errors=True)
        maker("-m", "venv", "--without-pip", *options, venv)
        made.append((described(venv), call([venv / "bin" / "python", "-c", WHO])))
    assert made[0] == made[1] == made[2]


def test_an_activated_environment_is_the_one_that_runs(as_pieprof, tmp_path):
    venv = tmp_path / "v"
    real("-m", "venv", "--without-pip", venv)
    expected = call([venv / "bin" / "python", "-c", WHO], cwd=tmp_path)
    search_path = f"{venv}/bin:{os.environ['PATH']}"
    assert as_pieprof("-c", WHO, environment={"VIRTUAL_ENV": str(venv)}) == expected
    assert as_pieprof("-c", WHO, environment={"VIRTUAL_ENV": str(venv), "PATH": search_path}) == expected
    # As in many an image: only the PATH names it.
    on_path = as_pieprof("-c", WHO, environment={"PATH": search_path})
    assert on_path == expected.replace("bin/python ", "bin/python3 ", 1)


def test_activation_by_its_own_script(pieprof, tmp_path):
    venv = tmp_path / "v"
    real("-m", "venv", "--without-pip", venv)
    script = f'. {venv}/bin/activate; exec "$0" -q -o {tmp_path}/x.db -c "$1"'
    got = call(["/bin/sh", "-c", script, pieprof, WHO])
    assert got == call([venv / "bin" / "python", "-c", WHO])


def test_an_environment_of_another_python_is_named_and_left_alone(pieprof, tmp_path):
    venv = tmp_path / "foreign"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text(f"#!/bin/sh\ntouch {tmp_path}/was_run\n")
    (venv / "bin" / "python").chmod(0o755)
    (venv / "bin" / "python3").symlink_to("python")
    env = helpers.clean_environment(VIRTUAL_ENV=str(venv), PATH=f"{venv}/bin:/usr/bin:/bin")
    done = helpers.run([pieprof, "-q", "-o", tmp_path / "x.db", "-c", "import sys; print(sys.executable)"], env=env)
    # Without a Python of its own there is none that could run in its place.
    assert (done.returncode, done.stdout) == ((0, helpers.PYTHON + "\n") if helpers.has_own_python() else (125, ""))
    assert done.stderr.count("\n") == 1 and str(venv) in done.stderr
    assert not (tmp_path / "was_run").exists()


@pytest.mark.parametrize("inner_options", [[], ["--copies"]])
def test_nested(as_pieprof, tmp_path, inner_options):
    outer, inner = tmp_path / "outer", tmp_path / "inner"
    real("-m", "venv", "--without-pip", outer)
    made = []
    activated = {"VIRTUAL_ENV": str(outer)}
    for maker in (lambda *argv: call([outer / "bin" / "python", *argv]),
                  lambda *argv: as_pieprof(*argv, environment=activated)):
        shutil.rmtree(inner, ignore_errors=True)
        maker("-m", "venv", "--without-pip", *inner_options, inner)
        made.append((described(inner), call([inner / "bin" / "python", "-c", WHO]),
                     as_pieprof("-c", WHO, environment={"VIRTUAL_ENV": str(inner)})))
    assert made[0] == made[1]
    assert made[0][1] == made[0][2]


def write_project(folder):
    for name, text in PROJECT.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))


def test_pip_installs_a_project_with_a_console_script(as_pieprof, tmp_path):
    venv = tmp_path / "v"
    as_pieprof("-m", "venv", "--system-site-packages", venv)
    write_project(tmp_path / "project")
    activated = {"VIRTUAL_ENV": str(venv)}
    as_pieprof("-m", "pip", "install", "--no-index", "--no-build-isolation", tmp_path / "project", environment=activated)
    script = venv / "bin" / "hello"
    assert script.read_text().splitlines()[0] == f"#!{venv}/bin/python"
    expected = f"hello from {venv}/bin/python {venv}\n"
    assert call([script]) == expected
    assert as_pieprof(script, environment=activated) == expected
    assert as_pieprof("-m", "pip", "list", environment=activated).count("hello") == 1


@pytest.mark.parametrize("options", [[], ["--copies"]])
def test_multiprocessing_in_it(as_pieprof, tmp_path, options):
    venv = tmp_path / "v"
    real("-m", "venv", "--without-pip", *options, venv)
    program = tmp_path / "m.py"
    program.write_text(textwrap.dedent(PROGRAM))
    expected = call([venv / "bin" / "python", program])
    assert expected.count(str(venv / "bin" / "python")) == 4
    assert as_pieprof(program, environment={"VIRTUAL_ENV": str(venv)}) == expected


# Whether a process is this program, or has taken it in as a guest.
IMAGE = "import os; print(os.readlink('/proc/self/exe'))"
if helpers.FORM == "guest":
    IMAGE = "print('libpieprof-' in open('/proc/self/maps').read())"
STARTS = {
    "subprocess": "import subprocess; print(subprocess.check_output([PYTHON, '-c', IMAGE], text=True), end='')",
    "empty environment": "import subprocess; print(subprocess.check_output([PYTHON, '-c', IMAGE], env={}, text=True), end='')",
    "changed folder": "import subprocess; print(subprocess.check_output([PYTHON, '-c', IMAGE], cwd='/', text=True), end='')",
    "preexec": "import subprocess; print(subprocess.check_output([PYTHON, '-c', IMAGE], preexec_fn=int, text=True), end='')",
    "other argv[0]": "import subprocess; print(subprocess.check_output(['x', '-c', IMAGE], executable=PYTHON, text=True), end='')",
    "execv": "import os; os.execv(PYTHON, [PYTHON, '-c', IMAGE])",
    "execl": "import os; os.execl(PYTHON, 'x', '-c', IMAGE)",
    "execle": "import os; os.execle(PYTHON, 'x', '-c', IMAGE, {})",
    "execve by descriptor": "import os; os.execve(os.open(PYTHON, os.O_RDONLY), [PYTHON, '-c', IMAGE], os.environ)",
    "posix_spawn": "import os; os.posix_spawn(PYTHON, [PYTHON, '-c', IMAGE], {}); os.wait()",
    "posix_spawnp": "import os; os.posix_spawnp(PYTHON, [PYTHON, '-c', IMAGE], {}); os.wait()",
    "C execlp": "import ctypes; ctypes.CDLL(None).execlp(PYTHON.encode(), b'x', b'-c', IMAGE.encode(), None)",
    "C execvp": "import ctypes as c; c.CDLL(None).execvp(PYTHON.encode(), (c.c_char_p * 4)(b'x', b'-c', IMAGE.encode()))",
    "script": "import os; os.execv('./script', ['x'])",
    "script in subprocess": "import subprocess; print(subprocess.check_output(['./script'], env={}, text=True), end='')",
}


@pytest.mark.parametrize("kind", ["real", "venv", "copy"])
@pytest.mark.parametrize("how", STARTS)
def test_children_of_the_interpreter_are_this_program(pieprof, tmp_path, kind, how):
    python = helpers.PYTHON
    if kind != "real":
        real("-m", "venv", "--without-pip", *(["--copies"] if kind == "copy" else []), tmp_path / "v")
        python = str(tmp_path / "v" / "bin" / "python")
    script = tmp_path / "script"
    script.write_text(f"#! {python} -u\n{IMAGE}\n")
    script.chmod(0o755)
    code = f"PYTHON = {python!r}; IMAGE = {IMAGE!r}; {STARTS[how]}"
    command = [pieprof, "-q", "-o", tmp_path / "x.db"]
    images = os.path.realpath(pieprof), os.path.realpath(python)
    with_us, without = ("True", "False") if helpers.FORM == "guest" else images
    assert call([*command, "-c", code], cwd=tmp_path) == with_us + "\n"
    assert call([*command, "--no-children", "-c", code], cwd=tmp_path) == without + "\n"


def test_other_programs_are_left_alone(pieprof, tmp_path):
    other = tmp_path / "other"
    other.write_text("#!/bin/sh\necho $0 $1\n")
    other.chmod(0o755)
    plain = tmp_path / "plain"  # no #! line: execvp hands it to /bin/sh
    plain.write_text("echo plain $1\n")
    plain.chmod(0o755)
    code = ("import ctypes, os, subprocess\n"
            "print(subprocess.check_output(['./other', 'a']), subprocess.check_output('echo b', shell=True))\n"
            "try: os.execv('./missing', ['x'])\n"
            "except FileNotFoundError as e: print(e)\n"
            "os.chmod('other', 0o644)\n"
            "try: os.execv('./other', ['x'])\n"
            "except PermissionError as e: print(e, flush=True)\n"
            "c = ctypes.CDLL(None); c.execlp(b'./plain', b'plain', b'd', None)\n")
    outcome = []
    for argv in [helpers.PYTHON], [pieprof, "-q", "-o", tmp_path / "x.db"]:
        other.chmod(0o755)
        outcome.append(call([*argv, "-c", code], cwd=tmp_path))
    assert outcome[0] == outcome[1] and "plain d" in outcome[0]
