# SPDX-License-Identifier: Apache-2.0
"""One program under all columns, in rounds: within a round each runs once, in an order that is drawn anew, so that a
slow minute of the machine slows all of them. Ratios are taken within a round."""

import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

LIMIT_S = 45  # of one process beside ten times its work; what takes longer has no figure
STARTER = pathlib.Path(__file__).with_name("starter.py")
SAID = 300  # characters kept of what a failed process said


def last_figures(text, key="wall_s"):
    """The last object with this key that a program printed, whatever a profiler printed around it; None without one."""
    for line in reversed(text.splitlines()):
        for at in (match.start() for match in re.finditer("{", line)):
            try:
                found = json.JSONDecoder().raw_decode(line[at:])[0]
            except ValueError:
                continue
            if isinstance(found, dict) and key in found:
                return found
    return None


def ended(process, limit_s):
    """Its exit status. Ends its whole group after the limit."""
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


def one(command, environment, folder, limit_s=LIMIT_S):
    """The cost of one process: work_s as the program prints it, wall_s, cpu_s, peak_mb, written_mb; or {"failed": why}.
    folder is its own, empty before, and it runs there. starter.py starts it."""
    own = ("stdout", "stderr", "costs")
    words = [sys.executable, "-I", "-S", STARTER, folder / "costs", *command]
    with open(folder / "stdout", "w+", encoding="utf-8", errors="replace") as out, \
            open(folder / "stderr", "w+", encoding="utf-8", errors="replace") as err:
        process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                   env=environment, start_new_session=True)  # fmt: skip
        try:
            status = ended(process, limit_s)
        except BaseException:  # such as an interrupt, of which the process's own session does not hear
            os.killpg(process.pid, signal.SIGKILL)
            raise
        out.seek(0), err.seek(0)
        printed, said = out.read(), err.read()
    written = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name not in own)
    figures = last_figures(printed)
    if status or figures is None:
        why = f"ended with {status}" if status else "printed no figures"
        return {"failed": f"{why}: {(said or printed).strip()[-SAID:]}"}
    wall_s, cpu_s, peak_bytes = map(float, (folder / "costs").read_text(encoding="ascii").split())
    return {"work_s": figures["wall_s"], "wall_s": wall_s, "cpu_s": cpu_s, "peak_mb": peak_bytes / 1e6, "written_mb": written / 1e6}


def while_time(count, budget):
    """Numbers of rounds: the first one always, then up to count of them while there is time for another as long as the
    longest so far. Without a budget all of them."""
    longest_s = 0
    for number in range(count):
        if number and budget and not budget.allows(longest_s):
            return
        begun = time.monotonic()
        yield number
        longest_s = max(longest_s, time.monotonic() - begun)


def rounds(columns, names, words, count, environment, seed=1, limit_s=LIMIT_S, budget=None):
    """{column: [the cost in each round]}, of count rounds at most. A column that has failed once is not tried again."""
    order, found = random.Random(seed), {name: [] for name in names}
    for _ in while_time(count, budget):
        for name in order.sample(list(names), len(names)):
            if found[name] and "failed" in found[name][-1]:
                continue
            with tempfile.TemporaryDirectory() as folder:
                command = [*columns.command(name, f"{folder}/profile", words[0]), *words]
                found[name].append(one(command, environment, pathlib.Path(folder), limit_s))
    return found


def ratios(found, name, baseline, key):
    """One for each round in which both ran."""
    pairs = zip(found.get(name, []), found.get(baseline, []))
    return [ours[key] / theirs[key] for ours, theirs in pairs if key in ours and theirs.get(key)]
