# SPDX-License-Identifier: Apache-2.0
"""Programs that people run, under all collectors and with their children: what they do and say is what they do without.

Each has a virtual environment, made once by the real interpreter with packages of PyPI. Its `python` is a link to the
real python3 in the first run and to the program under test, with PIEPROF=1, in the second. Programs are in the folder
real/.
"""

import contextlib
import dataclasses
import difflib
import http.client
import os
import pathlib
import pprint
import re
import shutil
import signal
import socket
import subprocess
import time
import uuid

import pytest

import helpers

PROGRAMS = pathlib.Path(__file__).resolve().parent / "real"
PIP_TIMEOUT_S = 600
ENDED_WITHIN_S = 20


@dataclasses.dataclass
class Place:
    """A folder to run in, and an environment whose python is one of the two."""

    folder: pathlib.Path
    bin: pathlib.Path
    variables: dict
    port: int = None

    def run(self, *command, stdin=subprocess.DEVNULL, **more):
        env = {**self.variables, **more}
        done = helpers.run([self.bin / command[0], *command[1:]], cwd=self.folder, env=env, stdin=stdin, timeout=300)
        return done.returncode, done.stdout, done.stderr

    @contextlib.contextmanager
    def server(self, *command, end=signal.SIGTERM, **more):
        """Started, and ended by a signal when the body is done; then it has .status and .output, both streams in
        one."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        output = self.folder / "server.output"
        with open(output, "wb") as file:
            server = subprocess.Popen([str(self.bin / command[0]), *(a.format(port=self.port) for a in command[1:])],
                                      stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, cwd=self.folder,
                                      env={**self.variables, **more}, start_new_session=True)
        try:
            yield server
            # As from a terminal, where an interrupt is for all; else as from a service manager, to the one it started.
            (os.killpg if end == signal.SIGINT else os.kill)(server.pid, end)
            wait_for_end(server.pid, 60)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.status = server.wait()
            server.output = output.read_text()
            print(server.output)

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        body = answer.read().decode()
        connection.close()
        return answer.status, answer.getheader("Content-Type"), body

    def wait_until_served(self, path, expected=None, timeout_s=60):
        deadline = time.monotonic() + timeout_s
        while True:
            with contextlib.suppress(OSError):
                if (answer := self.get(path))[0] == 200 and expected in (None, answer[2]):
                    return
            assert time.monotonic() < deadline, f"{path} was not served in {timeout_s} s"
            time.sleep(0.05)


class Environment:
    def __init__(self, venv):
        self.venv = venv
        self.bin = venv / "bin"

    def python_is(self, target):
        (self.bin / "python3").unlink()
        (self.bin / "python3").symlink_to(target)


@pytest.fixture(scope="session")
def environment(pieprof, tmp_path_factory):
    """A function that makes a virtual environment with packages of PyPI, or skips."""
    made = {}

    def make(*requirements):
        if requirements not in made:
            venv = tmp_path_factory.mktemp("real") / "v"
            assert helpers.run([helpers.PYTHON, "-m", "venv", venv]).returncode == 0
            try:
                got = helpers.run([venv / "bin" / "pip", "install", "-q", "--disable-pip-version-check", "--only-binary=:all:"
                                   if "pyspark" not in requirements else "--prefer-binary", *requirements], timeout=PIP_TIMEOUT_S)
                made[requirements] = Environment(venv) if got.returncode == 0 else got.stderr.strip().splitlines()[-1]
            except subprocess.TimeoutExpired:
                made[requirements] = f"pip took longer than {PIP_TIMEOUT_S} s"
        if isinstance(made[requirements], str):
            pytest.skip(f"cannot have {', '.join(requirements)}: {made[requirements]}")
        return made[requirements]

    yield make
    for one in made.values():  # pytest keeps its folders, and some environments have gigabytes
        if isinstance(one, Environment):
            shutil.rmtree(one.venv)


def wait_for_end(pid, timeout_s):
    """The number stays the child's own, for a signal to its group: one that was waited for may be anybody's."""
    deadline = time.monotonic() + timeout_s
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        assert time.monotonic() < deadline, f"process {pid} did not end within {timeout_s} s"
        time.sleep(0.01)


def processes_with(mark):
    """Those, with their command lines, whose environment has the mark."""
    found = {}
    for proc in pathlib.Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark.encode() in (proc / "environ").read_bytes():
                found[int(proc.name)] = (proc / "cmdline").read_bytes().replace(b"\0", b" ")
    return found


def end_all(mark):
    """Waits until no process with the mark is left; ends and returns those that do not go by themselves."""
    deadline = time.monotonic() + ENDED_WITHIN_S
    while (left := processes_with(mark)) and time.monotonic() < deadline:
        time.sleep(0.1)
    for pid in left:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return left


@pytest.fixture
def both(pieprof, tmp_path):
    """A function that does the same under python3 and under pieprof and returns the rows of v_process of the latter."""

    def one(environment, use, source, name, target, variables):
        # The same path in both runs: programs print it.
        folder = tmp_path / "run"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(PROGRAMS / source if source else PROGRAMS, folder)
        environment.python_is(target)
        mark = f"REAL_PROGRAM={uuid.uuid4()}"
        env = helpers.clean_environment(PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1", OMP_NUM_THREADS="2",
                                        PYTHONPATH=None if source else str(folder), OPENBLAS_NUM_THREADS="2", HOME=str(folder),
                                        PIP_CONFIG_FILE=os.devnull, PIP_FIND_LINKS=None, PIP_NO_CACHE_DIR="1", REAL_PROGRAM=mark.partition("=")[2], **variables)
        started = time.monotonic()
        try:
            return use(Place(folder, environment.bin, env))
        finally:
            print(f"{name}: {time.monotonic() - started:.1f} s")
            left = end_all(mark)
            environment.python_is(helpers.PYTHON)
            assert not left, f"{name} left processes: {left}"

    def run(environment, use, source=None):
        db = tmp_path / "x.db"
        expected = one(environment, use, source, "python3", helpers.PYTHON, {})
        found = one(environment, use, source, "pieprof", pieprof,
                    {"PIEPROF": "1", "PIEPROF_OUTPUT": str(db), "PIEPROF_OPTS": "-q"})
        lines = [pprint.pformat(outcome, width=160).splitlines() for outcome in (expected, found)]
        assert "\n".join(difflib.unified_diff(*lines, "python3", "pieprof", lineterm="", n=1)) == ""
        assert found == expected
        check_runs(helpers.check_file(db))
        return db

    return run


def check_runs(runs):
    for r in runs:
        print({k: r[k] for k in ("command", "processes", "samples", "drops", "cause", "exit_status")})
        assert r["samples"] > 0


def check_processes(db, expected):
    """The profile has this number of processes, and each of them has samples; `expected` may be a range."""
    rows = helpers.query(db, "select * from v_process order by run, process")
    for r in rows:
        print(r["run"], r["pid"], r["parent_pid"], r["samples"], round(r["cpu_s"], 3), r["cause"], r["exit_status"], (r["command"] or "")[:120])
    assert len(rows) in (expected if isinstance(expected, range) else [expected])
    assert [r for r in rows if not r["samples"]] == []
    return rows


def normalised(text, *more):
    """Without what differs between any two runs: times, ports, process ids, addresses."""
    for pattern, replacement in [(r"0x[0-9a-f]{6,}", "0x…"), (r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d([.,]\d+)?( \+\d{4})?", "DATE"),
                                 (r"\d\d/\w{3}/\d{4} \d\d:\d\d:\d\d", "DATE"), (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
                                 (r"\[\d+\]", "[PID]"), (r"\b\d+(\.\d+)? ?(s|ms|seconds)\b", "TIME"), *more]:
        text = re.sub(pattern, replacement, text)
    return text


def sorted_lines(text, *more):
    """For what several processes write, whose order is nobody's."""
    return sorted(normalised(text, *more).splitlines())


def script(name):
    def use(place):
        return tuple(part if isinstance(part, int) else normalised(part) for part in place.run("python", name))
    return use


def test_pip_installs_a_project_with_a_c_extension(environment, both):
    made = environment("setuptools", "wheel")

    def use(place):
        pip = place.run("python", "-m", "pip", "--disable-pip-version-check", "install", "--no-index", "--no-build-isolation", ".")
        script_of_it = (place.bin / "installed").read_text()
        installed = place.run("installed")
        return [[status, normalised(out, (r"sha256=\w+", "SUM"), (r"size=\d+", "SIZE"), (r"/tmp/pip-[\w-]+/\S*", "FOLDER")), err]
                for status, out, err in [pip, installed, place.run("python", "-m", "pip", "uninstall", "-y", "installed")]] + [script_of_it]

    db = both(made, use, "installed")
    rows = check_processes(db, range(3, 9))
    assert sum("installed" in r["command"] for r in rows) >= 2


def test_pytest_with_xdist(environment, both):
    made = environment("pytest", "pytest-xdist")

    def use(place):
        status, out, err = place.run("python", "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "-rs", "test_numbers.py")
        return status, sorted_lines(out, (r"gw[01]", "gw"), (r"[.Fs]{43}", "43 tests"), (r"=+", "==")), err

    rows = check_processes(both(made, use, "pytest_xdist"), 4)
    assert rows[0]["exit_status"] == 1


def test_gunicorn(environment, both):
    made = environment("gunicorn")

    def use(place):
        with place.server("gunicorn", "--workers", "2", "--bind", "127.0.0.1:{port}", "wsgi_app:app") as server:
            place.wait_until_served("/n1")
            answers = [place.get(f"/n{n * 20}") for n in range(300)]
            answers += [place.get("/fail"), place.get("/descriptors")]
        return answers, server.status, sorted_lines(server.output, (r"pid:? ?\d+|\(\d+\)", "PID"))

    rows = check_processes(both(made, use), 3)
    assert {(r["cause"], r["exit_status"]) for r in rows} == {("exit", 0)}


def test_multiprocessing_with_numpy(environment, both):
    # fork: 2; spawn: 2 and a resource tracker; forkserver: 2 and the server.
    rows = check_processes(both(environment("numpy"), script("use_multiprocessing.py")), 9)
    assert rows[0]["exit_status"] == 0


def test_scikit_learn_with_loky(environment, both):
    check_processes(both(environment("scikit-learn"), script("use_sklearn.py")), range(4, 6))


FLASK = ["-m", "flask", "--app", "served", "run", "--port", "{port}"]


@pytest.mark.parametrize("reloads", [False, True], ids=["alone", "reloader"])
def test_flask_development_server(environment, both, reloads):
    made = environment("flask")

    def use(place):
        with place.server("python", *FLASK, "--debug" if reloads else "--no-reload", end=signal.SIGINT) as server:
            place.wait_until_served("/version", "1")
            answers = [place.get(f"/{n * 20}") for n in range(200)] + [place.get("/fail")[:2 if reloads else 3]]
            if reloads:
                # What is ended by a signal has what it did until a second ago, and the first part after 0.25 s: the
                # parent kills a child that has not ended 0.25 s after an interrupt from the terminal.
                changed = (place.folder / "served.py").read_text().replace("VERSION = 1", "VERSION = 2")
                (place.folder / "served.py").write_text(changed)
                place.wait_until_served("/version", "2")
                answers += [place.get(f"/{n * 20}") for n in range(100)]
                time.sleep(0.5)
        output = [line for line in sorted_lines(server.output, (r"PIN: [\d-]+", "PIN")) if '"GET /version' not in line]
        return answers, server.status, output

    check_processes(both(made, use, "flask_app"), 3 if reloads else 1)


def test_uvicorn_with_fastapi(environment, both):
    made = environment("fastapi", "uvicorn")

    def use(place):
        with place.server("python", "-m", "uvicorn", "--workers", "2", "--port", "{port}", "asgi_app:app") as server:
            place.wait_until_served("/1")
            answers = [place.get(f"/{kind}{n * 20}") for n in range(150) for kind in ("", "thread/")]
            answers += [place.get("/descriptors"), place.get("/no-number")]
        return answers, server.status, sorted_lines(server.output, (r"process PID|process \[PID\]", "PID"))

    check_processes(both(made, use), 4)


def test_torch_with_a_data_loader(environment, both):
    made = environment("torch", "numpy")
    check_processes(both(made, script("use_torch.py")), range(7, 9))


def test_a_jupyter_kernel(environment, both):
    rows = check_processes(both(environment("ipykernel", "nbclient"), script("use_nbclient.py")), 3)
    assert sum("ipykernel" in r["command"] for r in rows) == 1


def test_celery(environment, both):
    made = environment("celery")

    def use(place):
        for folder in "queue", "results", "control":
            (place.folder / folder).mkdir()
        variables = {"CELERY_FOLDER": str(place.folder)}
        if os.geteuid() == 0:
            variables["C_FORCE_ROOT"] = "1"
        with place.server("celery", "-A", "celery_app", "worker", "--concurrency", "2", "--loglevel", "INFO", "-n", "one@here",
                          **variables) as server:
            client = place.run("python", "use_celery.py", PIEPROF="0", PIEPROF_OUTPUT="", **variables)
        return client, server.status, sorted_lines(server.output, (r"[0-9a-f]{8}-[0-9a-f-]{27}", "TASK"),
                                                    (r"ForkPoolWorker-\d", "ForkPoolWorker"), (r"succeeded in \S+", "succeeded in TIME"))

    check_processes(both(made, use), 3)


def test_dask_with_a_cluster_of_processes(environment, both):
    check_processes(both(environment("dask[array]", "distributed"), script("use_dask.py")), 4)


def test_pyspark_with_python_workers(environment, both, tmp_path):
    if not shutil.which("java"):
        pytest.skip("needs a Java runtime: default-jre-headless")
    made = environment("pyspark")

    def use(place):
        status, out, err = place.run("python", "use_pyspark.py", PYSPARK_PYTHON=str(made.bin / "python"),
                                     SPARK_LOCAL_IP="127.0.0.1")
        return status, out, normalised(err, (r"\d\d/\d\d/\d\d \d\d:\d\d:\d\d", "DATE"))

    rows = check_processes(both(made, use), range(3, 6))
    # The Java program between makes the daemon's run one of its own.
    assert [r["command"] for r in rows if r["parent"] is None] == ["use_pyspark.py", "-m pyspark.daemon pyspark.worker"]
    workers = {int(pid) for pid in (tmp_path / "run" / "workers").read_text().split()}
    assert workers <= {r["pid"] for r in rows if r["parent"] is not None}
