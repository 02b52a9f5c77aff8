# SPDX-License-Identifier: Apache-2.0
"""What an answer may cost: time inside of single functions, memory of long answers, width, depth; and what SQL may look
like."""

import json
import resource
import subprocess
import time

import pytest
from conftest import PIEPROF, changer, clean_environment, rows

MANY = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 300000) "
SAMPLE = "process, node, thread, samples, wait_samples, python_ns, native_ns, system_ns, wait_ns, cpu_sq_ns2, runnable_ns, throttled_ns"
SLOW = "select instr(zeroblob(8000000), zeroblob(4000000) || x'01')"  # one operation of hours


# SQLite's own memory is the question's, that of the text the form's: each of both, and the worst of them together.
@pytest.mark.parametrize("question, form", [
    (MANY + "select i, i * 2, 'text' from n", "--json"),
    (MANY + "select i, hex(randomblob(60)) as h from n order by h", "--json"),
    (MANY + "select i, hex(randomblob(60)) as h from n order by h", "--csv"),
    (MANY + "select i, hex(randomblob(60)) as h from n order by h", "--table"),
    (MANY + "select distinct i % 270000 from n", "--json"),
])
def test_long_answers_take_little_memory(program, form, question):
    """Was 160 MB for this many sorted rows and 30 MB more for each form's text; with any number of rows it is less than
    200 MB."""
    limit = 64 << 20

    def bound():
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))

    with subprocess.Popen([PIEPROF, "query", "a.db", question, form, "--timeout", "200"], cwd=program.folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment(), preexec_fn=bound) as done:
        printed = sum(line.count(b"\n") for line in iter(lambda: done.stdout.read(1 << 20), b""))
        assert done.stderr.read() == b""
    assert done.returncode == 0 and printed >= 270000


CONTEXTS, FUNCTIONS = 609000, 100000
LONG_NAMES = f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {FUNCTIONS - 1}) "
LONG_NODES = f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {CONTEXTS - 1}) "


@pytest.fixture(scope="module")
def many_contexts(program, tmp_path_factory):
    """Of many functions and some 30 frames each, all with up to 1 ms of samples."""
    columns = "process, id, parent, location, line_location, own_location"
    return changer(program, tmp_path_factory.mktemp("contexts"))(
        LONG_NAMES + "INSERT INTO function (process, id, kind, name, file, first_line) SELECT 2, 1000 + i, 1,"
        " 'Class' || (i % 300) || '.method_of_some_name_' || i, (SELECT min(id) FROM file WHERE process = 2), i % 997 FROM n",
        LONG_NAMES + "INSERT INTO location (process, id, function, line) SELECT 2, 1000 + i, 1000 + i, i % 997 FROM n",
        LONG_NODES + f"INSERT INTO node ({columns}) SELECT 2, 1000 + i,"
        " CASE WHEN i = 0 THEN NULL WHEN i % 3 THEN 999 + i ELSE 1000 + i * 2654435761 % 1000003 % i END,"
        f" 1000 + i * 31 % {FUNCTIONS}, 4, 4 FROM n",
        LONG_NODES + f"INSERT INTO sample ({SAMPLE}) SELECT 2, 1000 + i, 1, 1, 1, 1000 * (1 + i % 900), 0, 0, i % 1000, 1, i % 7, i % 5 FROM n")


@pytest.mark.parametrize("words", [("query", "a.db", "call tree", "--json", "--timeout", "200"),
                                   ("query", "a.db", "all call tree", "--table", "--timeout", "200"),
                                   ("export", "a.db", "-f", "collapsed"), ("export", "a.db", "-f", "speedscope", "--all")])
def test_all_contexts_at_once_take_little_memory(many_contexts, words, tmp_path):
    """Was 260 MB. Sums of 609 000 contexts are kept for the next question.

    Read from /proc: the figure of wait4() counts the program that started it too."""
    peak = 0
    answer = tmp_path / "answer"
    with answer.open("wb") as out, subprocess.Popen([PIEPROF, *words], cwd=many_contexts.folder, stdout=out, env=clean_environment()) as done:
        status = open(f"/proc/{done.pid}/status", encoding="utf-8")
        while done.poll() is None:
            status.seek(0)
            peak = max([peak, *(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))])
            time.sleep(0.002)
    status.close()
    assert done.returncode == 0
    assert 20e6 < peak < 145e6
    if "collapsed" in words:
        told = [int(line.rsplit(b" ", 1)[1]) for line in answer.open("rb")]
        assert len(told) > 0.9 * CONTEXTS
        assert sum(told) == rows(many_contexts, "select sum(python_ns + native_ns + system_ns) / 1000 as us from sample where process = 2")[0]["us"]


def test_a_function_that_does_not_come_back_is_ended(program):
    began = time.monotonic()
    done = program("query", "a.db", SLOW, "--timeout", "0.5", "--json", timeout=60)
    assert time.monotonic() - began < 20
    line = "the query took longer than 0.5 s; ask for less or raise --timeout"
    assert (done.returncode, done.complaint) == (1, f"pieprof: {line}\n")
    assert json.loads(done.text)["error"] == line


@pytest.mark.parametrize("question", ["select randomblob(1000000000)", "select zeroblob(20000000)",
                                      "select replace(hex(zeroblob(4000000)), '0', '0000')", "select char(65) || printf('%.*c', 100000000, 'x') || zeroblob(9000000)"])
def test_values_are_of_limited_size(program, question):
    done = program("query", "a.db", question, "--json")
    assert done.returncode == 1 and "too big" in json.loads(done.text)["error"]


def test_the_reader_of_a_pipe_may_take_its_time(program):
    """Waiting for it counts for no limit."""
    with subprocess.Popen([PIEPROF, "query", "a.db", MANY + "select i, hex(zeroblob(20)) from n", "--csv", "--timeout", "5"],
                          cwd=program.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=clean_environment()) as done:
        time.sleep(8)
        assert len(done.stdout.read().splitlines()) == 300001
        assert done.wait() == 0 and done.stderr.read() == b""


def test_an_answer_that_fails_late_is_an_object(program):
    question = MANY + "select i, iif(i < 200000, hex(zeroblob(20)), zeroblob(100000000)) from n"
    done = program("query", "a.db", question, "--json", "--timeout", "100")
    answer = json.loads(done.text)
    assert done.returncode == 1 and len(answer["rows"]) == 199999 and "too big" in answer["error"]


@pytest.mark.parametrize("question, expected", [
    ("-- how many\nselect count(*) as n from v_run", [{"n": 2}]),
    ("/* how many */ ;select count(*) as n from v_run", [{"n": 2}]),
    ("(select 1 as n)", [{"n": 1}]),
    ("values (1)", [{"column1": 1}]),
    ("select name from pragma_table_info('v_drop') limit 2", [{"name": "run"}, {"name": "process"}]),
    ("select value from json_each('[3,4]')", [{"value": 3}, {"value": 4}]),
    ("select json_valid('[3]') as a, json_valid('[') as b", [{"a": 1, "b": 0}]),
    ("select 1 as a, 2 as a", [{"a": 2}]),
])
def test_what_sql_may_look_like(program, question, expected):
    assert rows(program, question) == expected


@pytest.mark.parametrize("question", ["delete from run", "/* x */ delete from run", "select * from pragma_wal_checkpoint",
                                      "select * from pragma_journal_mode", "select * from pragma_database_list"])
def test_what_it_may_not_do(program, question):
    done = program("query", "a.db", question)
    assert done.returncode == 1 and done.text == ""


@pytest.fixture
def wide(program, tmp_path):
    """33 lines of own code, each with a sample."""
    copy = changer(program, tmp_path)
    columns = "process, id, parent, location, line_location, own_location"
    return copy(*(statement for i in range(100, 133) for statement in (
        f"INSERT INTO location (process, id, function, line) VALUES (2, {i}, (SELECT function FROM location WHERE process = 2 AND id = 4), {i})",
        f"INSERT INTO node ({columns}) VALUES (2, {i}, 2, {i}, {i}, {i})",
        f"INSERT INTO sample ({SAMPLE}) VALUES (2, {i}, 1, 5, 0, {i}, 0, 0, 0, 1, 0, 0)")))


def test_what_is_left_out_is_counted(wide):
    table = wide("query", "a.db", "hot lines").text.splitlines()
    assert len(table) == 22 and table[-1] == '20 of 37: "top all hot lines" tells the rest'
    answer = json.loads(wide("query", "a.db", "hot lines", "--json").text)
    assert (len(answer["rows"]), answer["rows_total"]) == (20, 37)
    assert rows(wide, answer["sql"]) == answer["rows"]
    few = wide("query", "a.db", "hot lines", "--csv")
    assert few.text.count("\n") == 21 and few.complaint == '20 of 37: "top all hot lines" tells the rest\n'
    for question in ("top all hot lines", "all hot lines"):
        every = json.loads(wide("query", "a.db", question, "--json").text)
        assert len(every["rows"]) == every["rows_total"] == 37
    assert json.loads(wide("query", "a.db", "top 3 hot lines", "--json").text)["rows_total"] is None


def test_what_is_no_terminal_has_no_width(wide):
    for question in ("hot lines", "call tree", "processes"):
        assert "…" not in wide("query", "a.db", question).text
        assert "did not fit" not in wide("query", "a.db", question).text


LAID_OUT = """select 1 as n, '日本' as name, null as "a\x1b[2Jb", 'x  ' as last union all select 200, 'a', 'cell', ''"""


def test_how_a_table_is_laid_out(program):
    """Numbers to the right, text to the left, nothing behind the last column; no column's name steers the terminal."""
    rows = ["  n name a�[2Jb last", "  1 日本 -      x  ", "200 a    cell   ", ""]
    assert program("query", "a.db", LAID_OUT).text == "\n".join(rows)
    coloured = program("query", "a.db", LAID_OUT, env=clean_environment(FORCE_COLOR="1")).text
    head = " ".join(f"\x1b[1m{name}\x1b[0m" for name in ("  n", "name", "a�[2Jb", "last"))
    assert coloured == "\n".join([head, *rows[1:]])


def test_a_deep_tree_is_reported_in_part(program, tmp_path):
    """6000 calls of a function by itself."""
    columns = "process, id, parent, location, line_location, own_location"
    copy = changer(program, tmp_path)(
        f"WITH RECURSIVE n(i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < 6999) "
        f"INSERT INTO node ({columns}) SELECT 2, i, iif(i = 1000, 4, i - 1), 4, 4, 4 FROM n",
        f"INSERT INTO sample ({SAMPLE}) VALUES (2, 6999, 1, 1000, 0, 1000000000, 0, 0, 0, 1, 2500000000, 500000000)")
    told = rows(copy, "call tree")
    [rest] = [r for r in told if r["kind"] == "more"]
    assert (rest["function"], rest["depth"], rest["total_s"]) == ("… 5939 more", 65, pytest.approx(1))
    assert max(r["depth"] for r in told) == 65
    for row in [r for r in told if r["depth"] >= 64]:
        assert (row["wait_s"], row["runnable_s"], row["throttled_s"]) == (0, 2.5, 0.5)
    assert max(r["depth"] for r in rows(copy, "all call tree")) == 6003
    assert sum(r["self_s"] for r in told) == pytest.approx(2)


def test_bad_json_spoils_its_cell(program, tmp_path):
    copy = changer(program, tmp_path)("UPDATE process SET argv = '[\"a' WHERE id = 2",
                                      "UPDATE process SET argv = '[' WHERE id = 1")
    assert [r["command"] for r in rows(copy, "runs")] == ["[", '["a']
    assert [r["command"] for r in rows(copy, "processes")] == ['["a']


def test_the_file_may_stand_behind_the_question(program):
    assert program("query", "hot lines", "a.db").text == program("query", "a.db", "hot lines").text
    assert program("query", "a.db", "--json", "threads").text == program("query", "threads", "--json", "a.db").text


@pytest.mark.parametrize("words, status", [(["a.db"], 2), (["no.db", "threads"], 1), (["a.db", "thraeds"], 1),
                                           (["a.db", "threads", "--run", "x"], 2), (["a.db", "select nonsense"], 1),
                                           (["a.db", "threads", "--jsno"], 2)])
def test_errors_are_objects_for_programs(program, words, status):
    done = program("query", *words, "--json")
    answer = json.loads(done.text)
    assert done.returncode == status and answer["schema"] == 1 and done.complaint == f"pieprof: {answer['error']}\n"
