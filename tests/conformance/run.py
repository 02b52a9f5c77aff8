#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""CPython's own tests as a judge: each chosen file is run by this program while it profiles itself, and its verdict has
to be python3's. A file that passes is not run by python3 too (it takes as long), but with --all.

usage: run.py [--all] [--jobs N] [--first SECONDS] [--timeout SECONDS] [--results FILE [--show]] [--keep FOLDER]
              [--tap] [FILE ...]

FILE may be a package or a pattern, for all files that it stands for: test_asyncio, 'test_multiprocessing_*'.

Either runs `-m test` in the same way and in a fresh folder; this program through a link called python3 with PIEPROF=1,
so that every process that a test starts is profiled too. With PIEPROF_FORM=guest the interpreter itself runs, with the
core preloaded; PIEPROF_PYTHON names another one than /usr/bin/python3. A verdict is what CPython's runner says of a
file: passed, failed, skipped and why. Where the verdicts differ, the tests inside the file that python3 passes and this
program does not are named. Ends with 0 when nothing differs, 1 when something does, 77 (skipped) when the tests are
not installed, 125 when the program is missing.

A whole suite runs in pieces: `run.py --jobs 2 --first 60 --results 3.13-guest.jsonl '*'`. Each file first has the
seconds of --first; those that need more come last. What is in the file of results is not run again, but where it timed
out and has more time now. With --show nothing runs: it says what the results come to, of all the files there are.

They are run under `timeout -s INT`: a shell's background job ignores SIGINT, and with it every process that it starts,
where test_signal and others then fail for any Python.
"""

import argparse
import collections
import concurrent.futures
import datetime
import fnmatch
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))
sys.dont_write_bytecode = True

import helpers  # noqa: E402  (needs the path above)

CHOSEN = ("test_cmd_line test_signal test_threading test_faulthandler test_subprocess test_sys test_site test_venv "
          "test_asyncio.test_unix_events test_asyncio.test_subprocess").split()
TIMED_OUT = "timed out"
ENDED_BY_TIMEOUT = (124, 137)  # statuses of timeout(1)
FAILED_TEST = re.compile(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", re.M)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("files", nargs="*", metavar="FILE", help="test files (default: ten that matter most)")
    parser.add_argument("--all", action="store_true", help="all test files there are (about an hour)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="files that run at the same time (default 1)")
    parser.add_argument("--first", type=int, metavar="SECONDS", help="files that need more than this come last")
    parser.add_argument("--timeout", type=int, default=500, metavar="SECONDS", help="for each file (default 500)")
    parser.add_argument("--results", metavar="FILE", help="go on where the run that wrote this file stopped")
    parser.add_argument("--show", action="store_true", help="run nothing; say what the results come to")
    parser.add_argument("--tap", action="store_true", help="report in TAP, which meson understands")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the full output and the profiles there")
    return parser.parse_args()


def python(*words, **more):
    return helpers.run([helpers.PYTHON, *words], **more)


def missing():
    """Why the tests cannot be run here, or None."""
    if python("-c", "import test.regrtest, test.test_sys").returncode != 0:
        version = python("-c", "import sys; print('%d.%d' % sys.version_info[:2])").stdout.strip()
        return f"CPython's tests are not installed: apt-get install libpython{version}-testsuite"
    return None


def all_files():
    listed = python("-m", "test", "--list-tests")
    return [line for line in listed.stdout.split() if line.startswith("test")]


def chosen_files(words):
    """Those that the words stand for, each once; ends with one line where there is none."""
    there, chosen = all_files(), []
    for word in words:
        found = [file for file in there if fnmatch.fnmatchcase(short := file.removeprefix("test."), word)
                 or short.startswith(word + ".")]  # fmt: skip
        # A file of a package that this Python's runner lists as a whole.
        if not found and "test_" in word.partition(".")[2]:
            found = [word] if word.partition(".")[0] in there else []
        if not found:
            sys.exit(f"run.py: this Python has no test file '{word}'")
        chosen += found
    return list(dict.fromkeys(chosen))


def verdict(status, output):
    """What CPython's runner says of one file, in a word."""
    for pattern, word in (
        (r"^\S+ skipped -- (.*)$", "skipped"),
        (r"^\S+ skipped \(resource denied\)", "skipped"),
        (r"^\d+ tests? skipped:", "skipped"),
        (r"^All 1 tests? OK\.|^1 test OK\.|^Result: SUCCESS", "passed"),
        (r"^Timeout \(", TIMED_OUT),
    ):
        if re.search(pattern, output, re.M):
            return word
    return TIMED_OUT if status in ENDED_BY_TIMEOUT else f"failed (status {status})"


class Groups:
    """Process groups of the files that run. One that timed out leaves what it started, and Ctrl-C reaches none."""

    def __init__(self):
        self.lock = threading.Lock()
        self.leaders = set()
        self.stopped = False

    def wait(self, argv, **more):
        """Runs it in a group of its own until no process of the group is left; returns its status."""
        with self.lock:
            if self.stopped:
                raise InterruptedError
            child = subprocess.Popen(argv, start_new_session=True, **more)
            self.leaders.add(child.pid)
        try:
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # its id, and so its group's, stays taken
        finally:
            with self.lock:
                os.killpg(child.pid, signal.SIGKILL)
                self.leaders.remove(child.pid)
                status = child.wait()
                stopped = self.stopped
        if stopped:
            raise InterruptedError  # what it came to is no verdict
        return status

    def stop(self):
        with self.lock:
            self.stopped = True
            for leader in self.leaders:
                os.killpg(leader, signal.SIGKILL)


groups = Groups()


def run_one(file, name, python, folder, timeout, environment):
    """Runs one test file by the words `python`; returns (verdict, names of failed tests)."""
    work = folder / name / file
    shutil.rmtree(work, ignore_errors=True)  # of a run that was killed
    work.mkdir(parents=True)
    argv = ["/usr/bin/timeout", "-s", "INT", "-k", "60", str(timeout + 120), *python, "-m", "test", "-W",
            "--timeout", str(timeout), "--tempdir", str(work), file]
    env = helpers.clean_environment(LC_ALL="C.UTF-8", PIEPROF_OPTS=None, PIEPROF_CORES=None, **environment)
    said = folder / f"{file}.{name}.txt"
    with open(said, "wb") as output:
        status = groups.wait(argv, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=env, cwd=work)
    text = said.read_text(errors="replace")
    shutil.rmtree(work, ignore_errors=True)
    return verdict(status, text), sorted(set(FAILED_TEST.findall(text)))


def column():
    """The Python and the form that verdicts belong to."""
    return f"{python('-c', 'import platform; print(platform.python_version())').stdout.strip()} {helpers.FORM}"


class Results:
    """Verdicts, also of earlier runs: one JSON object a line; the last one of a file counts."""

    def __init__(self, path):
        self.path = path and pathlib.Path(path)
        self.column = column()
        self.lock = threading.Lock()
        self.entries = {}
        text = self.path.read_text() if self.path and self.path.exists() else ""
        if not text.endswith("\n") and text:
            self.path.write_text(text + "\n")
        for line in text.splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # a run was killed while it wrote: the file runs again
            if entry["column"] != self.column:
                sys.exit(f"run.py: {path} has results of {entry['column']}, this is {self.column}")
            self.entries[entry["file"]] = entry

    def is_settled(self, file, limit):
        """Whether a run with that limit of time has nothing to add."""
        entry = self.entries.get(file)
        return bool(entry) and (TIMED_OUT not in entry["text"] or entry["limit"] >= limit)

    def add(self, entry):
        entry = {"column": self.column, "date": str(datetime.date.today()), **entry}
        with self.lock:
            self.entries[entry["file"]] = entry
            if self.path:
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(entry) + "\n")
        return entry


class Report:
    """What people read, or TAP: one line for each file, and which of its tests differ."""

    def __init__(self, tap):
        self.tap = tap
        self.states = collections.Counter()
        self.different = []

    def file(self, entry):
        name, text, state = entry["file"], entry["text"], entry["state"]
        self.states[state] += 1
        if state == "different":
            self.different.append(name)
        if not self.tap:
            print("\n".join([f"{name}: {text}", *(f"    {d}" for d in entry["details"])]), flush=True)
            return
        number, skipped = sum(self.states.values()), f"{name} # SKIP {text}"
        line = skipped if state == "skipped" else f"{name}: {text}"
        result = f"{'not ok' if state == 'different' else 'ok'} {number} {line}"
        print("\n".join([result, *(f"# {d}" for d in entry["details"])]), flush=True)

    def end(self):
        if self.tap:
            print(f"1..{sum(self.states.values())}")
            return
        counts = ", ".join(f"{self.states[state]} {state}" for state in ("same", "skipped", "different"))
        print(f"{sum(self.states.values())} files: {counts}{': ' if self.different else ''}{' '.join(self.different)}")


def show(results):
    """Of all the files there are: what differs or has had too little time, and how many have a verdict."""
    there = all_files()
    known = [results.entries[file] for file in there if file in results.entries]
    for entry in known:
        if entry["state"] in ("different", "unfinished"):
            print("\n".join([f"{entry['file']}: {entry['text']}", *(f"    {d}" for d in entry["details"])]))
    counts = collections.Counter(entry["state"] for entry in known)
    numbers = ", ".join(f"{counts[state]} {state}" for state in ("same", "different", "skipped", "unfinished"))
    print(f"{results.column}: {len(there)} files: {numbers}, {len(there) - len(known)} not run")


def profiled(db, link):
    """How a profiled Python is called: the words before its arguments, and what its environment has more."""
    if helpers.FORM == "guest":
        return [helpers.binary(), "-q", "--guest", "--python", helpers.PYTHON, "-o", str(db)], {}
    return [str(link)], {"PIEPROF": "1", "PIEPROF_OUTPUT": str(db)}


def judged(file, link, folder, options, limit):
    """The state of a file, in a word, with what is said of it; "unfinished": it has more time later."""
    db = folder / f"{file}.db"
    db.unlink(missing_ok=True)  # of the same file with less time
    python, environment = profiled(db, link)
    got, failed_here = run_one(file, "pieprof", python, folder, limit, environment)
    later = limit < options.timeout
    if got == TIMED_OUT and later:
        return "unfinished", got, []
    if got == "passed" and not options.all:
        return "same", got, []
    expected, failed_there = run_one(file, "python3", [helpers.PYTHON], folder, limit, {})
    if expected == TIMED_OUT and later:
        return "unfinished", expected, []
    if expected in (TIMED_OUT, "skipped"):
        return "skipped", f"{expected} under python3 itself on this machine", []
    details = [f"{name} fails under pieprof only" for name in failed_here if name not in failed_there]
    if expected == got and not details:
        return "same", got, []
    return "different", f"python3 {expected}, pieprof {got}", details


def compare(file, link, folder, options, limit):
    """What the results say of a file."""
    state, text, details = judged(file, link, folder, options, limit)
    if not options.keep:
        (folder / f"{file}.db").unlink(missing_ok=True)
    return {"file": file, "state": state, "text": text, "details": details, "limit": limit}


def run_files(files, options, results, judge):
    """Runs those that are not settled, --jobs at a time; yields the entry of each file once, when it is final."""
    yield from (results.entries[file] for file in files if results.is_settled(file, options.timeout))
    for limit in sorted({min(options.first or options.timeout, options.timeout), options.timeout}):
        left = [file for file in files if not results.is_settled(file, limit)]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            # A verdict is kept before the next file begins.
            running = [pool.submit(lambda f=file, t=limit: results.add(judge(f, t))) for file in left]
            try:
                for done in concurrent.futures.as_completed(running):
                    if done.result()["state"] != "unfinished":
                        yield done.result()
            except BaseException:
                groups.stop()
                pool.shutdown(cancel_futures=True)
                raise


def others_reach(path):
    """Whether other users may pass all folders on the way."""
    return all(folder.stat().st_mode & stat.S_IXOTH for folder in pathlib.Path(path).resolve().parents)


def run_all(options, folder):
    link = folder / "bin" / "python3"
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)  # an earlier run's that kept its output here
    if not others_reach(helpers.PYTHON):
        link.parent.chmod(0o700)  # test_user sees that it cannot execute either of them
    link.symlink_to(helpers.binary())
    files = all_files() if options.all else chosen_files(options.files or CHOSEN)
    report = Report(options.tap)
    for entry in run_files(files, options, Results(options.results),
                           lambda file, limit: compare(file, link, folder, options, limit)):  # fmt: skip
        report.file(entry)
    report.end()
    return 1 if report.different and not options.tap else 0


def main():
    options = arguments()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # nothing is left running
    if options.show:
        return show(Results(options.results))
    os.environ.pop("MALLOC_PERTURB_", None)  # meson's; CPython's tests measure times
    if not os.access(helpers.binary(), os.X_OK):
        print(f"no program at {helpers.binary()}: build it, or say where it is with PIEPROF_BINARY", file=sys.stderr)
        return 125
    reason = missing()
    if reason:
        print(f"1..0 # SKIP {reason}" if options.tap else f"skipped: {reason}")
        return 0 if options.tap else 77
    if options.keep:
        return run_all(options, pathlib.Path(options.keep).resolve())
    with tempfile.TemporaryDirectory(prefix="pieprof-conformance-", ignore_cleanup_errors=True) as folder:
        return run_all(options, pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
