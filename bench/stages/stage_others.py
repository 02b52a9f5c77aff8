# SPDX-License-Identifier: Apache-2.0
"""Start and end, answers and page, and detection by its own command."""

import functools
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

import commands
import measure

DETECTION = ("iterrows_invoices",)  # of the quick form
TEXTS = {
    "-c pass": "pass",
    "a child by subprocess": "import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'])",
    "a child by spawn": "import multiprocessing as m\nif __name__ == '__main__':\n    m.set_start_method('spawn')\n"
                        "    p = m.Process(target=print)\n    p.start()\n    p.join()",
    "import numpy": "import numpy",
    "import pandas": "import pandas",
    "import torch": "import torch",
}
QUESTIONS = ("summary", "hot lines", "own functions", "redundancy", "memory")


def starts(bench, text):
    """{column: [s of each start]} in an order drawn anew."""
    order, found = random.Random(2), {}
    names = [name for name in bench.columns.names if name == "python3" or name.startswith(("embedder", "pieprof "))]
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "program.py")
        program.write_text(text, encoding="utf-8")
        for _ in measure.while_time(bench.of(15, 7, 1), bench.budget):
            for name in order.sample(names, len(names)):
                words = [*bench.columns.command(name, f"{folder}/profile", program), str(program)]
                found.setdefault(name, []).append(commands.timed_process(words, bench.environment))
    return found


def start_steps(bench):
    texts = {name: text for name, text in TEXTS.items() if not name.startswith("import ") or not bench.columns.lacks(name[7:], True)}
    some = bench.of(tuple(texts), ("-c pass", "a child by subprocess", "import numpy"))
    texts = {name: text for name, text in texts.items() if name in some}
    return {name: functools.partial(starts, bench, text) for name, text in texts.items()}


def cost(words):
    """(wall s, CPU s) of a command."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([str(word) for word in words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"wall_s": wall_s, "cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def answers(bench):
    """Questions and the page of a profile of a program of bench/programs, and the bytes of both files."""
    with tempfile.TemporaryDirectory() as folder:
        profile, page = pathlib.Path(folder, "p.db"), pathlib.Path(folder, "p.html")
        program = bench.root / "bench/programs/json_codec.py"
        subprocess.run([bench.columns.pieprof, "-q", "-o", profile, program, str(bench.of(2, 0.5))], check=True,
                       env=bench.environment, stdout=subprocess.DEVNULL)  # fmt: skip
        ask = {name: [bench.columns.pieprof, "query", profile, name] for name in QUESTIONS}
        ask["the page"] = [bench.columns.pieprof, "report", profile, "--html", page]
        found = {name: [cost(words) for _ in range(bench.of(5, 2))] for name, words in ask.items()}
        return {"questions": found, "profile_bytes": profile.stat().st_size, "page_bytes": page.stat().st_size}


def answer_steps(bench):
    return {"json_codec": functools.partial(answers, bench)}


def detect(bench, name):
    """The verdict of bench/detection/run.py on a tuned program, as its --json has it."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out.json")
        python = bench.columns.python_with_packages()
        words = [python, bench.root / "bench/detection/run.py", "--python", python, "--pieprof", bench.columns.pieprof, "--repeats", "1",
                 "--scale", str(bench.of(0.4, 0.2)), "--no-fix", "--set", "tuned", "--only", name, "--json", out]  # fmt: skip
        done = subprocess.run([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        found = json.loads(out.read_text(encoding="utf-8")) if out.exists() else []
    return found[0] if found else {"failed": done.stderr[-300:]}


def detection_steps(bench):
    """Only the set "tuned", which may be run at any time. The whole form takes each third program."""
    sys.path.insert(0, str(bench.root / "bench/detection"))
    import catalogue

    names = sorted(program.name for program in catalogue.programs(chosen="tuned"))
    chosen = bench.of(names[::3], [name for name in DETECTION if name in names])
    return {name: functools.partial(detect, bench, name) for name in chosen}
