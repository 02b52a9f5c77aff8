# SPDX-License-Identifier: Apache-2.0
"""pieprof top: the figures of its views are those of query, and the keys do what they say. The terminal is a model."""

import json
import os
import resource
import shutil
import signal
import subprocess
import time
import unicodedata

import large_profile
import pytest
from conftest import PIEPROF, changer, clean_environment, make
from terminal import Terminal

VIEWS = ("functions", "lines", "threads", "memory", "findings")


@pytest.fixture(scope="module")
def waste(tmp_path_factory):
    return make(tmp_path_factory.mktemp("waste"), 0, 1)


@pytest.fixture(scope="module")
def memory(tmp_path_factory):
    return make(tmp_path_factory.mktemp("memory"), 0, 0, 1)


@pytest.fixture
def top(program):
    """A function that opens it on a terminal of 80 x 24, or another one."""
    opened = []

    def start(*words, db=program.db, **more):
        terminal = Terminal([PIEPROF, "top", db, *words], clean_environment(), **more)
        opened.append(terminal)
        terminal.until(lambda text: "Quit" in text or "too small" in text)
        return terminal

    yield start
    for terminal in opened:
        terminal.close()


def once(program, view, *words, columns=200):
    done = program("top", program.db, "--once", "--view", view, *words, env=clean_environment(COLUMNS=str(columns)))
    assert done.returncode == 0 and not done.complaint, done.complaint
    return done.text.splitlines()


def rows(lines):
    """The table as {last column: {title: text}}; figures end where their title does, or one column before its mark."""
    head = next(i for i, line in enumerate(lines) if line.rstrip().endswith(("FUNCTION", "LINE", "THREAD", "FINDING")))
    titles, found = [], {}
    for title in lines[head].replace(" s", "_s").split()[:-1]:
        end = lines[head].index(title.replace("_s", " s")) + len(title)
        titles.append((title.rstrip("▼▲"), end))
    for line in lines[head + 1 :]:
        if not line.strip() or line.startswith((" no", "/")):
            break
        cells, start = {}, 0
        for title, end in titles:
            cells[title] = line[start:end].strip()
            start = end
        found[line[start:].strip()] = cells
    return found


def asked(program, question):
    return json.loads(program("query", program.db, question, "--json").text)["rows"]


def share(value, digits=1):
    return "" if value is None else "100%" if value >= 0.9995 else f"{100 * value:.{digits}f}%"


def seconds(value):
    return "" if value is None else f"{value:.2f}"


def size(value):
    """Three digits, as everywhere."""
    units = ["B", "kB", "MB", "GB"]
    while value >= 999.5:
        value, units = value / 1000, units[1:]
    return f"{value:.{0 if units[0] == 'B' or value >= 99.95 else 1 if value >= 9.995 else 2}f} {units[0]}"


def place(row):
    return os.path.basename(row["file"]) + (f":{row['line']}" if row["line"] else "")


@pytest.mark.parametrize(("view", "own", "total"), [("functions", "all hot functions", "all total functions"),
                                                    ("lines", "all hot lines", "all total lines")])
def test_own_and_total_figures_are_those_of_query(program, view, own, total):
    shown = rows(once(program, view))
    figures = {(row["file"], row["line"], row["function"]): row for row in asked(program, own)}
    all_rows = [row for row in asked(program, total) if row["file"]]
    assert len(shown) == len(all_rows) > 3
    for row in all_rows:
        (cells,) = [cells for text, cells in shown.items()
                    if (text.startswith(place(row)) if view == "lines" else text == f"{row['function']}  {place(row)}")]
        alone = figures.get((row["file"], row["line"], row["function"]))
        assert cells["TOT_s"] == seconds(row["total_s"]) and cells["TOT%"] == share(row["total_share"])
        assert cells["OWN_s"] == seconds(row["self_s"]) == seconds(alone["cpu_s"] if alone else 0)
        if not alone:
            continue
        assert cells["OWN%"] == share(alone["cpu_share"]) and cells["WAIT_s"] == seconds(alone["wait_s"])
        parts = [alone[name] / alone["cpu_s"] if alone["cpu_s"] else None for name in ("python_s", "native_s", "system_s")]
        assert [cells[name] for name in ("PY", "NAT", "SYS")] == [share(part, 0) for part in parts]


def test_threads_are_those_of_query(program):
    shown = rows(once(program, "threads"))
    assert len(shown) == 2
    for row in asked(program, "threads"):
        (cells,) = [cells for text, cells in shown.items() if text.endswith(f"thread {row['tid']}")]
        expected = (seconds(row["cpu_s"]), seconds(row["wait_s"]), seconds(row["wall_s"]), str(row["samples"]))
        assert tuple(cells[name] for name in ("CPU_s", "WAIT_s", "ALIVE_s", "SAMPLES")) == expected


def test_memory_is_that_of_query(memory):
    shown = rows(once(memory, "memory"))
    told = asked(memory, "all memory")
    assert len(shown) == len(told) > 3
    for row, (text, cells) in zip(told, shown.items()):
        assert text.startswith(place(row))
        assert (cells["ALLOC"], cells["PEAK"]) == (size(row["allocated_bytes"]), size(row["peak_bytes"]))
        assert cells["LIVE"] == size(row["growth_bytes"]) and cells["SAMPLES"] == str(row["samples"])


def test_findings_are_those_of_query_with_leaks_behind_them(waste, memory):
    found = [(text, cells["WASTED_s"], cells["WASTED%"]) for text, cells in rows(once(waste, "findings")).items()]
    told = {f"{row['category']}  {os.path.basename(row['user_file'] or row['file'])}:{row['user_line'] or row['line']}":
            (seconds(row["wasted_s"]), share(row["wasted_share"])) for row in reversed(asked(waste, "all redundancy"))}
    assert len(found) > 3 and dict((text, (s, part)) for text, s, part in reversed(found)).keys() == told.keys()
    assert found[0][1:] == told[found[0][0]]
    leaks = {f"leak  {place(row)}": size(row["leaked_bytes"]) for row in asked(memory, "all leaks")}
    shown = rows(once(memory, "findings"))
    assert leaks and {text: cells["LEAKED"] for text, cells in shown.items() if text.startswith("leak")} == leaks


def test_the_header_is_the_row_of_the_run(program):
    lines, (row,) = once(program, "functions"), asked(program, "select * from v_run where run = :run")
    assert lines[0].startswith(f"pieprof top  {row['command']}") and lines[0].endswith(f"status 3  {row['wall_s']:.2f} s")
    assert lines[1].startswith(f"{row['cpu_s']:.2f} s CPU  Python {100 * row['python_s'] / row['cpu_s']:.0f} %")
    assert lines[2].startswith(f"{row['samples']} samples ({row['samples'] / row['wall_s']:.0f}/s)")
    assert f"overhead {100 * row['overhead_share']:.1f} %  threads {row['threads']}" in lines[2]


def cpu_s(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PIEPROF, *words], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_a_screen_of_many_functions_takes_as_long_as_the_questions_behind_it(program, tmp_path):
    """1700 functions: where each was compared with each other one, a screen took 7 times as long."""
    db = tmp_path / "p.db"
    shutil.copyfile(program.db, db)
    large_profile.proportioned(db, 20_000)
    asked_s = min(cpu_s("query", db, "--run", "1", "own functions") for _ in range(3))
    assert min(cpu_s("top", db, "--run", "1", "--once") for _ in range(3)) <= 4 * asked_s


def first_column(lines):
    return [line.split()[0] for line in lines[6:] if line.startswith("  ")]


def shows(mark, *column):
    """A condition, as the terminal may have got only a part of the screen."""
    return lambda text: mark in text and first_column(text.split("\n"))[:4] == list(column)


def are_sorted(names):
    return names == sorted(names, key=str.lower)


def test_keys_order_rows(top):
    terminal = top()
    terminal.until(shows("OWN s▼", "0.65", "0.30", "0.05", "0.00"))
    terminal.type("r", shows("OWN s▲", "0.00", "0.05", "0.30", "0.65"))
    terminal.type("T", shows("TOT s▼", "0.05", "0.00", "0.65", "0.30"))  # main and <module> have all below them
    for keys, mark in ((">", "TOT%▼"), ("<", "TOT s▼"), ("2", "OWN%▼"), ("\x1b[17~", "TOT s▼"), ("1", "OWN s▼"), ("<", "FUNCTION▼")):
        terminal.type(keys, lambda text, mark=mark: mark in text)
    terminal.until(lambda text: are_sorted([line.split()[-2] for line in text.split("\n")[6:10]]))


def test_keys_move_the_cursor_and_show_its_row(top):
    terminal = top("--view", "lines")
    terminal.until(lambda text: "app.py:6  work" in text and "\ntotal += i * i" in text)
    terminal.type("j", lambda text: "core.py:2  crunch" in text)
    terminal.type("\x1b[B", lambda text: "app.py:10  main" in text)
    terminal.type("k", lambda text: "core.py:2  crunch" in text)
    terminal.type("G", lambda text: "app.py:11  main" in text)
    terminal.type("\x1b[5~", lambda text: "app.py:6  work" in text)
    terminal.type("\x1b[6~", lambda text: "app.py:11  main" in text)


def test_a_filter_applies_as_it_is_typed(top):
    terminal = top("--view", "lines")
    terminal.type("/", lambda text: "Filter: _" in text)
    terminal.type("FAST", lambda text: "Filter: FAST_" in text and "2 of 6 rows" in text)  # the library's path, and a line
    terminal.type("\x7f\x7f\x7f\x7fmain()", lambda text: "1 of 6 rows" in text and "app.py:13  main()" in text)
    terminal.type("x", lambda text: 'no row has "main()x"' in text)
    terminal.type("\x7f\r", lambda text: "1 of 6 rows" in text and "Quit" in text)
    terminal.type("\x1b", lambda text: "6 rows" in text and "of 6" not in text)


def test_keys_choose_views_own_or_total_and_help(top):
    terminal = top()
    for key, title in zip("lmwtf", ("6 rows", "no allocation", "nothing redundant", "MainThread", "FUNCTION")):
        terminal.type(key, lambda text, title=title: title in text)
    terminal.type("\t", lambda text: "6 rows" in text)
    terminal.type("\x1b\t", lambda text: "4 rows" in text)
    lines = terminal.type("o", lambda text: "total time" in text and "TOT s▼" in text)
    assert lines[6].split()[:6] == ["0.05", "5.0%", "1.00", "100%", "70%", "18%"]  # main, with all that it called
    terminal.type("h", lambda text: "pieprof top: keys" in text and "quit" in text)
    terminal.type("x", lambda text: "total time" in text)
    os.write(terminal.fd, b"q")
    assert terminal.end() == 0


def test_pause_is_shown(top):
    terminal = top()
    terminal.type("p", lambda text: "PAUSED" in text)
    terminal.type(" ", lambda text: "PAUSED" not in text and "ended" in text)


@pytest.mark.parametrize(("columns", "lines"), [(200, 60), (80, 24), (60, 15), (40, 9), (20, 4), (12, 3), (1, 1)])
def test_any_size_will_do(top, columns, lines):
    terminal = top("--view", "lines")
    terminal.resize(columns, lines)
    if columns < 20:
        terminal.until(lambda text: text.strip() in ("too small; …", "…"))
    else:
        terminal.until(lambda text: "0.60" in text and ("Quit" in text.splitlines()[-1]) == (lines >= 5))
        assert ("total += i" in terminal.lines[lines - 2]) == (lines >= 16)
    terminal.resize(80, 24)
    terminal.until(lambda text: "main thread" in text and "Reverse" in text)


@pytest.mark.parametrize("how", ["q", "\x1b[21~", signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_the_terminal_is_given_back(top, how):
    terminal = top(term="xterm")
    during = terminal.state()
    if isinstance(how, str):
        os.write(terminal.fd, how.encode())
    else:
        os.kill(terminal.pid, how)
    status = terminal.end()
    assert status & 0x7F == (0 if isinstance(how, str) else how)
    assert terminal.raw.rindex(b"\x1b[?1049l") > terminal.raw.rindex(b"\x1b[?1049h")
    assert b"\x1b[?25h" in terminal.raw[terminal.raw.rindex(b"\x1b[?25l") :]  # the cursor is seen again
    assert not during[3] & 8 and not during[3] & 2  # ECHO, ICANON: it had keys without lines


def test_the_terminal_has_its_settings_again(program):
    """A shell in between looks at them: with the last process, a pseudo-terminal goes."""
    script = "before=$(stty -g); \"$0\" top \"$1\"; [ \"$before\" = \"$(stty -g)\" ] && echo the same"
    terminal = Terminal(["/bin/sh", "-c", script, PIEPROF, program.db], clean_environment())
    try:
        terminal.until(lambda text: "Quit" in text)
        terminal.type("q", lambda text: "the same" in text)
        assert terminal.end() == 0
    finally:
        terminal.close()


def test_hostile_names_are_inert_and_keep_the_columns(program, tmp_path, top):
    change = changer(program, tmp_path)
    name = "漢字\x1b]0;t\x07\x9b31m\u202e\t" + "e\u0301" * 3 + "\n<b>"
    (tmp_path / "\x1b[31m.db").write_bytes(change("update process set argv = null").db.read_bytes())
    assert program("top", tmp_path / "\x1b[31m.db", "--once").text.splitlines()[0].startswith("pieprof top  /")
    assert "\x1b" not in program("top", tmp_path / "\x1b[31m.db", "--once").text
    db = change(f"update function set name = cast(x'{name.encode().hex()}' as text) where name = 'work'").db
    terminal = top(db=db)
    lines = terminal.until(lambda text: "0.65" in text and "<b>" in text)
    for steering in (b"\x1b]0;", b"\x07", "\x9b".encode(), "\u202e".encode()):
        assert steering not in terminal.raw
    shown = lines[6].replace("漢 字 ", "漢字")  # pyte has a stub behind each wide character
    assert unicodedata.normalize("NFC", shown).startswith("   0.65 65.0%    0.65 65.0% 100%   0%    0.00 漢字")
    assert lines[7].startswith("   0.30 30.0%")


@pytest.mark.parametrize("figure", ["-1e15", "1e17"])
def test_any_figure_can_be_shown(program, tmp_path, figure):
    copy = changer(program, tmp_path)(f"update sample set python_ns = {figure}", f"update thread set wall_ns = {figure}")
    for view in VIEWS:
        lines = once(copy, view, columns=80)
        assert len(lines) > 5 and max(map(len, lines)) <= 80


def test_colours_are_left_out_where_nobody_wants_them(program):
    terminal = Terminal([PIEPROF, "top", program.db], clean_environment(NO_COLOR="1"))
    try:
        terminal.until(lambda text: "[ppp" in text and "Quit" in text)
        assert not any(cell.fg != "default" for line in terminal.screen.buffer.values() for cell in line.values())
    finally:
        terminal.close()


def test_where_there_is_no_terminal_one_line_says_so(program):
    done = program("top", program.db)
    assert done.returncode == 1 and done.complaint == "pieprof: top needs a terminal; --once prints one frame as text\n"
    for kind in ("dumb", "no-such-terminal", ""):
        terminal = Terminal([PIEPROF, "top", program.db], clean_environment(), term=kind)
        assert terminal.end() == 1 << 8
        terminal.close()
        assert terminal.raw.decode().count("\n") == 1 and f'the terminal "{kind}" (TERM) is unknown' in terminal.raw.decode()


def test_one_frame_as_text(program):
    for view in VIEWS:
        lines = once(program, view, columns=80)
        assert 5 < len(lines) <= 24 and max(map(len, lines)) <= 80 and "\x1b" not in "".join(lines)
    assert max(map(len, once(program, "lines", columns=1))) <= 40
    assert "\x1b" not in "".join(once(program, "lines", "--filter", "\x1b[31m"))
    assert rows(once(program, "functions", "--filter", "CRUNCH")).keys() == {"crunch  core.py:1"}


@pytest.mark.parametrize(("words", "status", "said"), [
    (["--view", "flames"], 2, "there is no view flames: functions, lines, threads, memory, findings"),
    (["--run", "9"], 1, "there is no run 9"), (["--bad"], 2, "bad option"), (["one", "two"], 2, "one profile or process at a time"),
    (["no-such.db"], 1, "cannot open"), (["4194299"], 1, "process 4194299 writes no profile: there is no such process"),
])
def test_what_cannot_be_shown_is_one_line(program, words, status, said):
    done = program("top", *([program.db] if words[0].startswith("--") else []), *words, "--once")
    assert done.returncode == status and said in done.complaint and done.complaint.count("\n") == 1 and not done.text


def test_what_is_written_meanwhile_is_shown(program, tmp_path, top):
    copy = changer(program, tmp_path)("update process set argv = '[\"one.py\"]'")
    terminal = top(db=copy.db)
    terminal.until(lambda text: "one.py" in text)
    time.sleep(0.01)
    changer(copy, tmp_path)("update process set argv = '[\"two.py\"]'")
    terminal.until(lambda text: "two.py" in text)
