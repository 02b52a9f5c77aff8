# SPDX-License-Identifier: Apache-2.0
"""The columns of the tables: each a way to run a Python program, from the plain interpreter to every other profiler.

The first column is the baseline of all ratios, but of those of a peer that needs another Python. A column that cannot
run here is left out and named with the reason.
"""

import os
import pathlib
import shutil
import subprocess

BASELINE = "python3"
TIME = ["--no-redundancy", "--no-memory", "--no-copies"]
# The parts of pieprof that are on. "time", "memory" and "copies" have one collector each, at fixed rates; "redundancy"
# has time, too, since samples of time choose its lines.
SETTINGS = {
    "off": ["--no-time", "--no-redundancy", "--no-memory", "--no-copies"],
    "time": ["--overhead", "0", *TIME],
    "redundancy": ["--overhead", "0", "--no-memory", "--no-copies"],
    "memory": ["--overhead", "0", "--no-time", "--no-redundancy", "--no-copies"],
    "copies": ["--overhead", "0", "--no-time", "--no-redundancy", "--no-memory"],
    "all fixed": ["--overhead", "0"],
    "all governed": ["--overhead", "5%"],
}
PIEPROF = tuple(f"pieprof {name}" for name in SETTINGS)

# name: (module or program that must be there, words before the program's own). {python} is the interpreter, {out} a new
# name of a file. What is sampled is left at the peer's default unless the name says more.
PEERS = {
    "cProfile": ("cProfile", "{python} -m cProfile -o {out}"),
    "Scalene cpu": ("scalene", "{python} -m scalene run --cpu-only -o {out}.json"),
    "Scalene": ("scalene", "{python} -m scalene run -o {out}.json"),
    "memray": ("memray", "{python} -m memray run -q -f -o {out}"),
    "py-spy": ("py-spy", "py-spy record -f raw -o {out} -- {python}"),
    "austin": ("austin", "austin -o {out} {python}"),
    "pyinstrument": ("pyinstrument", "{python} -m pyinstrument -r json -o {out}"),
    "line_profiler": ("kernprof", "{python} -m kernprof -l -q -o {out} -p {program}"),
    "yappi": ("yappi", "{python} -m yappi -o {out} -f pstat"),
    "Fil": ("filprofiler", "{python} -m filprofiler --no-browser -o {out} run"),
    "VizTracer": ("viztracer", "{python} -m viztracer --quiet --log_async -o {out}.json --"),
    "Tachyon": ("profiling.sampling", "python3.15 -m profiling.sampling run --collapsed -o {out}"),
}
# The Python of peers that do not run under the system's: a column, too, which is the baseline of their ratios.
BASELINES = {"Tachyon": "python3.15"}


class Columns:
    """What can run here. extra is the folder of the virtual environment that scripts/bench --install makes."""

    def __init__(self, python, pieprof, embedders, extra):
        self.python, self.pieprof, self.extra = str(python), str(pieprof), pathlib.Path(extra)
        self.embedders = {path.name: str(path) for path in map(pathlib.Path, embedders) if path.exists()}
        self.absent, self.known = {}, {}
        self.names = [BASELINE, *self.embedders, *PIEPROF]
        if not self.embedders:
            self.absent["bare embedder"] = "not built: ninja -C build bench/embedder-static"
        for name, (needed, words) in PEERS.items():
            if reason := self.lacks(needed, words.split()[0] == "{python}", BASELINES.get(name)):
                self.absent[name] = reason
            else:
                self.names += [BASELINES[name], name] if name in BASELINES else [name]

    def environment(self, base):
        """The packages that --install has put there come after nothing but the program's own folder."""
        site = self.packages()
        found = {**base, "PATH": f"{self.extra}/bin:{base['PATH']}"}
        return {**found, "PYTHONPATH": site[0]} if site else found

    def packages(self):
        """The folder of packages that --install has made, if it is there."""
        return [str(path) for path in sorted(self.extra.glob("lib/python3*/site-packages"))][:1]

    def python_with_packages(self):
        """The interpreter that has these packages by itself."""
        return str(self.extra / "bin/python") if self.packages() else self.python

    def lacks(self, needed, is_module, python=None):
        """Why a peer cannot run, or "". python: the one that has the module, if it is not the system's. Each is tried
        once, since some import for seconds."""
        key = needed, is_module, python
        if key not in self.known:
            self.known[key] = self.tried(*key)
        return self.known[key]

    def tried(self, needed, is_module, python):
        environment = {**os.environ, **self.environment({"PATH": "/usr/bin:/bin"})}
        path = self.python if is_module else shutil.which(python or needed, path=environment["PATH"])
        if not path:
            return f"there is no {python}" if python else "not installed"
        words = ["-c", f"import {needed}"] if is_module or python else ["--version"]
        done = subprocess.run([path, *words], env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return ""
        said = done.stderr.strip().splitlines() or [f"ended with {done.returncode}"]
        return "not installed" if "No module" in done.stderr else f"does not start: {said[-1]}"

    def command(self, name, out, program):
        """The words before the program and its arguments."""
        if name == BASELINE:
            return [self.python]
        if name in self.embedders:
            return [self.embedders[name]]
        if name in BASELINES.values():
            return [name]
        if name in PIEPROF:
            return [self.pieprof, "-q", "-o", f"{out}.db", *SETTINGS[name.removeprefix("pieprof ")]]
        return [word.format(python=self.python, out=out, program=program) for word in PEERS[name][1].split()]
