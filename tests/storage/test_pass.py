# SPDX-License-Identifier: Apache-2.0
"""The sums by place that all questions share (storage/read/place_time.c): as SQLite finds them, of one pass;
and what is asked of all runs takes no walk for each row."""

import re
import resource

import large_profile
import pytest
from conftest import Program, exported, make, rows

COLUMNS = ("process, kind, line_location, own_location, library_module, function, thread, samples, python_ns, native_ns, "
           "system_ns, wait_ns, runnable_ns, throttled_ns, cpu_sq_ns2")
# Views that have a row for each line or function, which were made anew for each row of another one.
LONG_VIEWS = ["v_line", "v_function", "v_native", "v_own_line", "v_redundancy", "v_redundancy_function", "v_gc", "v_needless"]


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    """With watches, of which some are of calls of own functions."""
    return make(tmp_path_factory.mktemp("waste"), 1, "waste")


def by_key(found):
    return sorted(found, key=lambda row: tuple((value is not None, value) for value in row[:7]))


def test_sums_by_place_are_as_sqlite_finds_them(program, tmp_path):
    with exported(program, tmp_path) as file:
        expected = by_key(file.execute(f"SELECT {COLUMNS} FROM x_place_time").fetchall())
    found = rows(program, f"select {COLUMNS} from process p cross join x_place_time s on s.process = p.id")
    assert by_key(tuple(row.values()) for row in found) == expected
    assert {row[1] for row in expected} == {1, 2, 3, 4}


def test_sums_of_processes_are_as_sqlite_finds_them(program, tmp_path):
    columns = COLUMNS[COLUMNS.index("samples"):]
    with exported(program, tmp_path) as file:
        expected = by_key(file.execute(f"SELECT process, {columns} FROM x_process_time").fetchall())
    found = rows(program, f"select s.process, {columns} from process p cross join x_process_time s on s.process = p.id")
    assert by_key(tuple(row.values()) for row in found) == [(*row[:-1], pytest.approx(row[-1])) for row in expected] != []


@pytest.mark.parametrize("view", ["x_line_sum", "x_function_sum"])
def test_sums_by_name_are_as_sqlite_finds_them(program, tmp_path, view):
    columns = ("run, file, line, function, library, user_file, user_line, cpu_ns, cpu_sq_ns2, nth, samples, python_ns, "
               "native_ns, system_ns, wait_ns, runnable_ns, throttled_ns")
    with exported(program, tmp_path) as file:
        expected = by_key(file.execute(f"SELECT {columns} FROM {view}").fetchall())
    found = rows(program, f"select {columns.replace('run,', 's.run,', 1)} from run r cross join {view} s on s.run = r.id")
    assert by_key(tuple(row.values()) for row in found) == expected
    assert {row[9] for row in expected} >= {1, 2, 3}


def test_lines_that_call_own_functions_have_their_time(waste, tmp_path):
    with exported(waste, tmp_path) as file:
        expected = file.execute("SELECT process, place, ns FROM x_called_cpu ORDER BY 1, 2, 3").fetchall()
    assert [tuple(row.values()) for row in rows(waste, "select process, place, ns from x_called_cpu order by 1, 2, 3")] == expected


@pytest.mark.parametrize("view", LONG_VIEWS)
def test_all_runs_are_those_of_each(program, view):
    """The views find a run's rows by another way than those of all runs."""
    each = [row for run in rows(program, "runs") for row in rows(program, f"select * from {view} where run = {run['run']}")]
    found = rows(program, f"select * from {view}")
    key = str
    assert sorted(map(key, found)) == sorted(map(key, each))


def scans_below_contexts(plan):
    """Of a plan of SQLite: sums of a process that are asked for within a loop over contexts or their places."""
    loops = {}
    for row in plan:
        before = loops.setdefault(row["parent"], [])
        if "VIRTUAL TABLE" in row["detail"] and any(re.match(r"(SCAN|SEARCH) (n|node|l|u|f)\b", loop) for loop in before):
            yield row["detail"]
        before.append(row["detail"])


@pytest.mark.parametrize("view", LONG_VIEWS)
def test_no_view_adds_up_the_samples_for_each_context(program, view):
    plan = rows(program, f"explain query plan select * from {view}")
    assert any("VIRTUAL TABLE" in row["detail"] for row in plan) and not list(scans_below_contexts(plan))


@pytest.mark.parametrize("make_large", [lambda db: large_profile.enlarge(db, files=50, contexts=2000),
                                        lambda db: large_profile.proportioned(db, 2000)], ids=["enlarge", "proportioned"])
def test_the_maker_of_large_profiles_adds_to_any(waste, tmp_path, make_large):
    copy = Program(tmp_path)
    copy.db.write_bytes(waste.db.read_bytes())
    before, = rows(copy, "runs")
    added = make_large(copy.db)
    after, = rows(copy, "runs")
    assert after["cpu_s"] == pytest.approx(before["cpu_s"] + added / 1e9)
    assert sum(row["cpu_s"] for row in rows(copy, "all hot lines")) <= after["cpu_s"] * (1 + 1e-9)


@pytest.mark.parametrize("question", ["tree", "redundancy", "hot lines"])
def test_a_period_is_read_once(waste, tmp_path, question):
    """Not once for each context: that took seconds in a wide program, and a thousandth of it without a period."""
    copy = Program(tmp_path)
    copy.db.write_bytes(waste.db.read_bytes())
    large_profile.proportioned(copy.db, 6000)

    def cpu_s(words):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert copy("query", "a.db", words).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    assert cpu_s(f"{question} in the last 50 minutes") < 8 * cpu_s(question) + 0.2
