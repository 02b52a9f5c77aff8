# SPDX-License-Identifier: Apache-2.0
"""The program without a Python of its own, called as python: the next python on the PATH, profiled on request."""

import json
import os
import re
import shutil

import pytest

import helpers

WHO = "import json, os, sys; print(json.dumps([sys.executable, sys.prefix, sys.argv, dict(os.environ)])); sys.exit(7)"
BUILD = os.environ.get("PIEPROF_BUILD") or os.path.dirname(helpers.binary())


@pytest.fixture
def folder(tmp_path):
    """A folder as an init container leaves it: the program, a core, and the names of interpreters."""
    made = tmp_path / "bin"
    made.mkdir()
    shutil.copy(os.path.join(BUILD, "pieprof-none"), made / "pieprof")
    for name in ("python", "python3", "python3.11", "python3.99"):
        (made / name).symlink_to("pieprof")
    return made


def call(folder, *words, name="python3", cores=BUILD, argv0=None, **more):
    path = f"{folder}:{os.path.dirname(helpers.PYTHON)}"
    env = helpers.clean_environment(_=None, PIEPROF_OPTS=None, PIEPROF_CORES=cores, PATH=path, **more)
    return helpers.run([argv0 or name, *words], env=env, cwd=folder.parent, executable=folder / name)


def who(done):
    executable, prefix, argv, environment = json.loads(done.stdout)
    return executable, prefix, argv, {name: value for name, value in environment.items() if not name.startswith("PIEPROF")}


def test_it_is_the_next_python_and_writes_nothing(folder):
    done = call(folder, "-c", WHO, "x")
    assert (done.returncode, done.stderr) == (7, "")
    assert who(done)[:3] == (helpers.PYTHON, "/usr", ["-c", "x"])
    assert [path.name for path in folder.parent.iterdir()] == ["bin"]


@pytest.mark.parametrize("wanted", [{"PIEPROF": "1"}, {"PIEPROF_OUTPUT": "pieprof.db"}], ids=lambda wanted: next(iter(wanted)))
def test_it_is_profiled_on_request_and_the_program_sees_nothing_of_it(folder, wanted):
    plain, done = call(folder, "-c", WHO, "x"), call(folder, "-c", WHO, "x", **wanted)
    assert (done.returncode, done.stderr) == (7, "")
    assert who(done) == who(plain)
    [run] = helpers.query(folder.parent / "pieprof.db", "select command, processes from v_run")
    assert (run["command"].split()[-1], run["processes"]) == ("x", 1)


def test_with_a_sanitizer_it_runs_unprofiled(folder):
    library = helpers.run(["gcc", "-print-file-name=libasan.so"]).stdout.strip()
    if not os.path.isabs(library):
        pytest.skip("no libasan")
    done = call(folder, "-c", "print(1)", PIEPROF="1", LD_PRELOAD=library, ASAN_OPTIONS="detect_leaks=0")
    assert (done.returncode, done.stdout) == (0, "1\n")
    assert done.stderr.startswith("pieprof: warning: LD_PRELOAD has AddressSanitizer's library"), done.stderr
    assert done.stderr.count("\n") == 1 and done.stderr.endswith("; running unprofiled\n")
    assert not (folder.parent / "pieprof.db").exists()


def test_zero_switches_it_off(folder):
    assert call(folder, "-c", WHO, PIEPROF="0", PIEPROF_OUTPUT="x.db").returncode == 7
    assert not (folder.parent / "x.db").exists()


@pytest.mark.parametrize("name, argv0", [("python3", "python"), ("python3.11", "another")])
def test_the_name_chooses(folder, name, argv0):
    """A link that was executed under another name stands for python3, as no name on the PATH is meant then."""
    chosen = "python3" if argv0 == "another" else argv0
    if not shutil.which(chosen, path=os.path.dirname(helpers.PYTHON)):
        done = call(folder, "-c", WHO, name=name, argv0=argv0)
        assert (done.returncode, done.stderr) == (127, f"pieprof: there is no other {chosen} on the PATH\n")
        return
    assert who(call(folder, "-c", WHO, name=name, argv0=argv0))[0] == f"{os.path.dirname(helpers.PYTHON)}/{chosen}"


def test_without_a_core_the_program_runs_unprofiled(folder):
    done = call(folder, "-c", WHO, cores=None, PIEPROF="1")
    assert done.returncode == 7 and json.loads(done.stdout)[0] == helpers.PYTHON
    assert done.stderr.count("\n") == 1
    assert done.stderr.endswith("for which this pieprof has no core; it has: none; running unprofiled\n")
    assert not (folder.parent / "pieprof.db").exists()


def test_wrong_options_run_it_unprofiled(folder):
    done = call(folder, "-c", WHO, PIEPROF="1", PIEPROF_OUTPUT="no/such/folder/x.db")
    assert done.returncode == 7 and done.stderr.count("\n") == 1 and done.stderr.endswith("; running unprofiled\n")


def test_a_python_that_is_not_there(folder):
    done = call(folder, "-c", WHO, name="python3.99")
    assert (done.returncode, done.stderr) == (127, "pieprof: there is no other python3.99 on the PATH\n")


def cores():
    """The versions that have a core in the build, in the program's order."""
    return ", ".join(sorted(name[len("libpieprof-"):-len(".so")] for name in os.listdir(BUILD)
                            if name.startswith("libpieprof-3.") and name.endswith(".so")))


def test_its_version_names_the_cores(folder):
    done = call(folder, "--version", name="pieprof")
    assert (done.returncode, done.stderr) == (0, "")
    assert re.fullmatch(rf"pieprof [0-9.]+ \(cores for Python {cores()}\)\n", done.stdout), done.stdout
    assert call(folder, "--version", name="pieprof", cores=None).stdout.endswith(" (cores for Python none)\n")


def doctor(folder, **more):
    done = call(folder, "doctor", "--json", name="pieprof", **more)
    found = json.loads(done.stdout)
    return done.returncode, found, {probe["id"]: probe for probe in found["probes"]}["libpython"]


def test_the_doctor_tells_of_the_python_that_a_run_takes(folder):
    version = helpers.run([helpers.PYTHON, "-c", "import sys; print('%d.%d%s' % (*sys.version_info[:2], sys.abiflags))"])
    (folder / "python3").unlink()  # a pieprof in place of a python is passed over in any case
    status, found, python = doctor(folder)
    assert (python["name"], python["status"]) == ("Python", "degraded" if "t" in version.stdout else "ok")
    assert python["detail"] == f"{version.stdout.strip()}, {os.path.dirname(helpers.PYTHON)}/python3; cores for {cores()}"
    assert (status, found["time_profile"]) == ((0, True) if found["clock"] != "none" else (1, False))


@pytest.mark.parametrize("more, why", [
    ({"VIRTUAL_ENV": "/no/such"}, "/no/such/bin/python cannot be read: No such file or directory"),
    ({"cores": None}, "for which this pieprof has no core; it has: none")], ids=["environment", "core"])
def test_the_doctor_says_why_no_python_can_be_profiled(folder, more, why):
    status, found, python = doctor(folder, **more)
    assert (status, found["time_profile"], found["redundancy"], python["status"]) == (1, False, False, "missing")
    assert python["detail"].endswith(why)
    said = call(folder, "doctor", name="pieprof", **more)
    assert (said.returncode, said.stdout.splitlines()[-1]) == (1, "Nothing can be profiled here: there is no Python for it.")


def test_it_has_no_python_to_install(folder):
    (folder.parent / "env").mkdir()
    (folder.parent / "env" / "python3").symlink_to(helpers.PYTHON)
    done = call(folder, "install", folder.parent / "env", name="pieprof")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("pieprof: this pieprof has no Python to install, it runs your own") and done.stderr.count("\n") == 1
    assert os.readlink(folder.parent / "env" / "python3") == helpers.PYTHON
