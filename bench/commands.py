# SPDX-License-Identifier: Apache-2.0
"""Running one command of the bench and reading what it cost."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import time


def environment():
    """One environment for all: no user's settings of Python, one hash seed, one thread for each NumPy call."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "PIEPROF", "VIRTUAL_ENV"))}
    return {**kept, "PATH": "/usr/bin:/bin", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def check(done):
    if done.returncode:
        raise SystemExit(f"{done.args} ended with {done.returncode}:\n{done.stderr}")
    return done


def timed_program(command):
    """Runs a program of programs/; returns the (wall, CPU) seconds of its work as it prints them."""
    done = check(subprocess.run([str(w) for w in command], capture_output=True, text=True, env=environment()))
    return figures(done.stdout.splitlines()[-1])


def figures(line):
    printed = json.loads(line)
    return printed["wall_s"], printed["cpu_s"]


def timed_turns(commands, turns, orders):
    """Runs a program of programs/ under several commands, {name: command}, which take turns in an order drawn from
    orders; returns {name: [(wall s, CPU s) of each turn]}."""
    processes = {name: subprocess.Popen([*map(str, command), str(turns)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, bufsize=1, env=environment()) for name, command in commands.items()}
    times = {name: [] for name in commands}
    for _ in range(turns):
        for name in orders.sample(list(commands), len(commands)):
            processes[name].stdin.write("go\n")
            times[name].append(figures(processes[name].stdout.readline()))
    for name, process in processes.items():
        process.communicate()
        if process.returncode:
            raise SystemExit(f"{commands[name]} ended with {process.returncode}")
    return times


def timed_process(command, env=None):
    """Wall seconds from before the process is made until it has ended. env: its environment, if not environment()."""
    begun = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                          env=env or environment())
    seconds = time.perf_counter() - begun
    check(done)
    return seconds


def counted(command):
    """Instructions of a command under callgrind, in all threads."""
    valgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    done = check(subprocess.run([*valgrind, *map(str, command)], capture_output=True, text=True, env=environment()))
    return int(re.search(r"Collected : (\d+)", done.stderr).group(1))


def functions(command, folder, zero_before=None, packages=None):
    """{function: (calls, instructions with all that it calls)} of a command's main thread under callgrind, and "" for
    all of the thread. A signal's handler has no caller, so it has what it does itself and what it calls. folder is for
    callgrind's files; those of a former command are overwritten. Counts begin anew before a function zero_before.
    packages: a folder of Python packages beside the system's."""
    words = ["valgrind", "--tool=callgrind", "--separate-threads=yes", "--compress-strings=no", "--compress-pos=no",
             f"--callgrind-out-file={folder}/counted", *([f"--zero-before={zero_before}"] if zero_before else [])]  # fmt: skip
    beside = {"PYTHONPATH": str(packages)} if packages else {}
    check(subprocess.run([*words, *map(str, command)], capture_output=True, text=True, env={**environment(), **beside}, check=False))
    own, called, calls, inside = (collections.Counter() for _ in range(4))
    function = callee = None
    for line in pathlib.Path(folder, "counted-01").read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition("=")
        if key == "fn":
            function = value
        elif key == "cfn":
            callee = value
        elif key == "calls":
            calls[callee] += int(value.split()[0])
        elif re.match(r"[0-9+*-]", line):
            cost = int(line.split()[1])
            if callee:
                called[function] += cost
                inside[callee] += cost
            else:
                own[function] += cost
            callee = None
    found = {name: (calls[name], max(inside[name], own[name] + called[name])) for name in own}
    return {**found, "": (1, sum(own.values()))}


def with_core(pieprof, python):
    """The words that start an interpreter with the core loaded and off. The loader preloads it, since valgrind's own
    programs must not take it in."""
    (core,) = pathlib.Path(pieprof).resolve().parent.glob("libpieprof-3.*.so")
    return ["/lib64/ld-linux-x86-64.so.2", "--preload", core, python]


def instructions(choices, program):
    """{variant: instructions of the program net of start-up}, or None without valgrind."""
    if not shutil.which("valgrind"):
        return None
    return {name: counted([*command, program]) - counted([*command, "-c", "import json, re"])
            for name, command in choices.items()}
