# SPDX-License-Identifier: Apache-2.0
"""Programs that leak in known lines, and programs of the same outward shape that do not (truth/leaks)."""

import concurrent.futures
import linecache
import re

import pytest

from helpers import PYTHON, TRUTH, clean_environment, has_numpy, line_of, profile

HERE = TRUTH / "leaks"
LEAKS = sorted(path.stem for path in HERE.glob("leak_*.py"))
LOOKALIKES = sorted(path.stem for path in HERE.glob("fine_*.py"))
AT_A_TIME = 2  # they sleep for most of their time


def can_run(name):
    return has_numpy() or "import numpy" not in (HERE / f"{name}.py").read_text()


@pytest.fixture(autouse=True)
def has_what_the_program_needs(request):
    name = hasattr(request.node, "callspec") and request.node.callspec.params.get("name")
    if name and not can_run(name):
        pytest.skip(f"{PYTHON} has no NumPy")


@pytest.fixture(scope="module")
def runs(pieprof, tmp_path_factory, request):
    """name -> Profile of the programs whose tests were chosen."""
    chosen = {item.callspec.params["name"] for item in request.session.items
              if item.path == request.path and hasattr(item, "callspec")}
    folder, env = tmp_path_factory.mktemp("leaks"), clean_environment(PYTHONDONTWRITEBYTECODE="1")
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        started = {name: pool.submit(profile, folder / f"{name}.db", HERE / f"{name}.py", env=env) for name in chosen if can_run(name)}
        return {name: future.result() for name, future in started.items()}


def leaks(done):
    return done.query("top 1000 leaks")


@pytest.mark.parametrize("name", LEAKS)
def test_a_leak_is_reported_on_its_line(runs, name):
    program = HERE / f"{name}.py"
    rows = leaks(runs[name])
    own = [(r["file"], r["line"]) for r in rows if r["file"].startswith(str(HERE))]
    assert own == [(str(program), line_of(program, "LEAK"))], rows
    first = rows[0]
    assert (first["rank"], first["line"]) == (1, own[0][1])
    assert 0.95 < first["score"] <= 1 and first["frees"] < first["mallocs"]


def said(name, word):
    """What the program says of itself after that word; None: nothing."""
    found = re.search(rf"^# {word}: (.*)$", (HERE / f"{name}.py").read_text(), re.MULTILINE)
    return found and found.group(1)


@pytest.mark.parametrize("name", LEAKS)
def test_how_much_leaks(runs, name):
    """Some 250 kB in each of 180 rounds where the program says nothing else, a tenth more or less, and what chance adds
    to this many samples. The rate is over the time from the first of them on."""
    first = leaks(runs[name])[0]
    (run,) = runs[name].query("runs")
    print(first)
    assert first["leaked_bytes"] == pytest.approx(float(said(name, "LEAKED") or 45e6), rel=0.1 + 4 / first["mallocs"] ** 0.5)
    assert 0.5 * run["wall_s"] < first["leaked_bytes"] / first["rate_bytes_per_s"] <= run["wall_s"]


@pytest.mark.parametrize("name", [name for name in LEAKS if said(name, "HOLDER")])
def test_a_leak_names_what_holds_its_objects(runs, name):
    text = leaks(runs[name])[0]["holder"]
    print(text)
    assert text and re.search(said(name, "HOLDER"), text)


def is_import(row):
    """Of the program's own lines."""
    return row["file"].startswith(str(HERE)) and linecache.getline(row["file"], row["line"]).startswith("import ")


@pytest.mark.parametrize("name", LEAKS)
def test_what_grew_most_is_the_leak(runs, name):
    """The same line, by bytes, and the leak's size in the reported interval, with what the line had for a moment;
    with blocks of other sizes that are there at the end, in twice the interval, since chance has its way with these
    too. An import may have grown more: the OpenBLAS in a wheel of NumPy maps 64 MB."""
    first, rows = leaks(runs[name])[0], runs[name].query("what grew most")
    most = next(row for row in rows if not is_import(row))
    print(most)
    assert (most["file"], most["line"]) == (first["file"], first["line"])
    away = most["growth_bytes"] - first["leaked_bytes"] - float(said(name, "BESIDE") or 0)
    assert abs(away) <= (most["growth_high"] - most["growth_bytes"]) * (2 if said(name, "BESIDE") else 1)
    assert most["kept_bytes"] <= most["growth_bytes"] <= most["allocated_bytes"] * 1.5
    assert [r["rank"] for r in rows] == list(range(1, len(rows) + 1))
    assert [r["growth_bytes"] for r in rows] == sorted((r["growth_bytes"] for r in rows), reverse=True)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_growth_is_reported_where_nothing_leaks(runs, name):
    rows = runs[name].query("growth")
    assert rows and all(r["growth_low"] <= r["growth_bytes"] <= r["growth_high"] for r in rows)


@pytest.mark.parametrize("name", LOOKALIKES)
def test_what_does_not_leak_is_not_reported(runs, name):
    assert leaks(runs[name]) == []
