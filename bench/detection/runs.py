# SPDX-License-Identifier: Apache-2.0
"""Runs a program plainly or under pieprof, and asks the profile for its findings."""

import dataclasses
import json
import math
import os
import subprocess
import tempfile
import threading
import time

import catalogue
import contexts

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
LIMIT_S = 600


class Failure(Exception):
    """A program or pieprof did not do what it should; the text says what."""


@dataclasses.dataclass
class Done:
    """A process that ended well, children included."""

    out: str
    wall_s: float
    cpu_s: float
    peak_mib: float  # of resident memory


class Runner:
    def __init__(self, python, pieprof, scale, threads):
        self.python, self.pieprof, self.scale = str(python), str(pieprof), scale
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIEPROF", "PYTHON", "VIRTUAL_ENV"))}
        # harness.py lies in programs/. All sets get the same path, so that they run alike.
        self.environment["PYTHONPATH"] = str(catalogue.SETS["tuned"])
        if threads:
            self.environment.update(dict.fromkeys(THREADS, str(threads)))
        prefix, base, self.version = self.ask("sys.prefix, sys.base_prefix, sys.version.split()[0]")
        self.venv = prefix if prefix != base else None

    def ask(self, expression):
        code = f"import sys; print(*({expression}), sep='\\n')"
        command = [self.python, "-c", code]
        return subprocess.run(command, env=self.environment, check=True, capture_output=True, text=True).stdout.splitlines()

    def versions(self, modules):
        """{module: version}, those that are there."""
        code = "import importlib.metadata as m, sys\nfor n in sys.argv[1:]:\n try: print(n, m.version(n))\n except m.PackageNotFoundError: pass"
        done = subprocess.run([self.python, "-c", code, *modules], env=self.environment, check=True, capture_output=True, text=True)
        return dict(line.split() for line in done.stdout.splitlines())

    def execute(self, command, environment=None, limit_s=LIMIT_S):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            began = time.perf_counter()
            process = subprocess.Popen(command, env=environment or self.environment, stdout=out, stderr=err)
            alarm = threading.Timer(limit_s, process.terminate)  # pieprof confirm hands it on
            alarm.start()
            _, status, usage = os.wait4(process.pid, 0)
            alarm.cancel()
            wall = time.perf_counter() - began
            process.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0), err.seek(0)
            if wall > limit_s:
                raise Failure(f"{' '.join(map(str, command))} took longer than {limit_s:g} s")
            if process.returncode:
                raise Failure(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{err.read()[-2000:]}")
            return Done(out.read(), wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)

    def words(self, program, fixed):
        return [str(program.path), "--scale", str(self.scale), *(["--fixed"] if fixed else [])]

    def plain(self, program, fixed=False):
        """{"wall_s", "cpu_s", "checksum"} of the work, {"whole_s"} of the whole process."""
        done = self.execute([self.python, *self.words(program, fixed)])
        return json.loads(done.out.splitlines()[-1]) | {"whole_wall_s": done.wall_s, "whole_cpu_s": done.cpu_s}

    def profiled(self, program, file, options=()):
        """Like plain(); the profile is in `file`."""
        done = self.under_pieprof(self.words(program, False), file, options)
        return json.loads(done.out.splitlines()[-1]) | {"whole_wall_s": done.wall_s, "whole_cpu_s": done.cpu_s}

    def confirmed(self, program, file, scale, limit_s):
        """The findings of a profile after a second run, of `scale`, has counted their calls; with how many times as
        long it took as the same without it, None: not known. A profile that has counts is not counted again."""
        has_weight = any(finding["severity"] in ("high", "low") for finding in self.findings(file))
        slowdown = None
        if has_weight and not self.query(file, "select * from counted limit 1"):
            words = [str(program.path), "--scale", str(scale)]
            plain = self.execute([self.python, *words])
            done = self.execute([self.pieprof, "confirm", str(file), "--", *words], self.for_pieprof(), limit_s)
            slowdown = done.cpu_s / plain.cpu_s
            first, second = (json.loads(one.out.splitlines()[-1]) for one in (plain, done))
            if not same(first, second):
                raise Failure(f"{program.name} computes something else when its calls are counted: {second['checksum']}")
        return self.findings(file), slowdown

    def findings(self, file):
        return self.query(file, "all redundancy")

    def contexts(self, file):
        return contexts.Contexts(lambda question: self.query(file, question))

    def for_pieprof(self):
        return self.environment | ({"VIRTUAL_ENV": self.venv} if self.venv else {})

    def under_pieprof(self, words, file, options):
        return self.execute([self.pieprof, "-q", "-o", str(file), *options, *words], self.for_pieprof())

    def query(self, file, question):
        return json.loads(self.execute([self.pieprof, "query", str(file), question, "--json"]).out)["rows"]


def same(first, second):
    """Did two runs compute the same?"""
    pairs = zip(first["checksum"], second["checksum"], strict=True)
    return all(math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-4) for a, b in pairs)
