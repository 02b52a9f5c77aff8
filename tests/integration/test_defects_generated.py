# SPDX-License-Identifier: Apache-2.0
"""Code without a file: a library's is the library's, a notebook's cells are the user's, with their source."""

import pathlib
import textwrap

import pytest

from helpers import Profile, binary, profile, run, total

DEFECTS = pathlib.Path(__file__).resolve().parent / "defects"
LIBRARY = '''\
"""As NumPy makes its public functions: a wrapper compiled from text, in a scope of its own, around the one that works."""
import functools
import time

SOURCE = """\\
@functools.wraps(implementation)
def public(*args):
    end = time.thread_time() + args[0]
    while time.thread_time() < end:
        pass
    return implementation(*args)
"""


def implementation(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


scope = {"functools": functools, "implementation": implementation, "time": time}
exec(compile(SOURCE, "<__array_function__ internals>", "exec"), scope)
public = scope["public"]
'''


def test_generated_code_of_a_library_is_the_librarys(tmp_path):
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "dispatching.py").write_text(LIBRARY)
    done = profile(tmp_path / "generated.db", DEFECTS / "generated.py", packages)
    files = {r["path"]: r for r in done.sql("select path, is_own, library from file")}
    assert files["<__array_function__ internals>"]["is_own"] == 0
    assert files["<__array_function__ internals>"]["library"] == "dispatching"
    assert files["<string>"]["is_own"] == 1 and files["<string>"]["library"] is None
    rows = [r for r in done.lines() if r["file"] == "<__array_function__ internals>"]
    assert total(rows, "cpu_s") > 0.1
    assert {r["library"] for r in rows} == {"dispatching"}
    assert {r["user_file"] for r in rows} == {str(DEFECTS / "generated.py")}
    own = done.query("top 1000 own lines")
    assert "<__array_function__ internals>" not in {r["file"] for r in own}
    assert total([r for r in own if r["file"] == "<string>"], "cpu_s") > 0.1
    # its source came with it
    assert any("while time.thread_time() < end" in r["text"] for r in
               done.sql("select text from v_source where file = '<__array_function__ internals>'"))


def test_cells_are_the_users_with_their_source(tmp_path):
    done = profile(tmp_path / "cells.db", DEFECTS / "cells.py")
    own = {(r["file"], r["line"]): r for r in done.query("top 1000 own lines")}
    for name, mark in (("/tmp/ipykernel_123/456.py", "notebook"), ("<ipython-input-7-0123456789ab>", "terminal")):
        assert total([r for (file, _), r in own.items() if file == name], "cpu_s") > 0.1
        lines = {r["line"]: r["text"] for r in done.sql(f"select line, text from v_source where file = '{name}'")}
        assert lines[6] == f"    while time.thread_time() < end:  # {mark}"
        assert lines[4] == "def work(seconds):" and lines[7] == "        pass"


def test_texts_that_have_no_room_are_counted_and_reported(tmp_path):
    """Of twenty texts of half a megabyte 8 MiB have room for sixteen; one above 512 KiB is not kept; what has a file is
    not meant."""
    database, program = tmp_path / "full.db", tmp_path / "many_cells.py"
    program.write_text("for n in range(20):\n"
                       "    exec(compile('#' * 500_000, f'<cell {n:02}>', 'exec'))\n"
                       "exec(compile('#' * 530_000, '<cell 99>', 'exec'))\n"
                       "exec(compile('#' * 530_000, __file__, 'exec'))\n"
                       "exec(compile('#' * 530_000, '<string>', 'exec'))\n")
    text = run([binary(), "-o", database, program]).stderr
    assert "Source: 5 texts of cells or generated code had no room; their lines are without text\n" in text
    (row,) = Profile(database, None).sql("select name, value, is_drop from counter where name = 'cell_sources_dropped'")
    assert (row["value"], row["is_drop"]) == (5, 0)
    fitting = profile(tmp_path / "fits.db", "-c", "exec(compile('#' * 500_000, '<cell 00>', 'exec'))")
    assert fitting.sql("select value from counter where name = 'cell_sources_dropped' and value > 0") == []


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_the_line_that_starts_a_process_is_no_users(tmp_path, method):
    """multiprocessing passes it with -c, as a user may; what the process then does is at the user's own lines."""
    program = tmp_path / "started.py"
    program.write_text(textwrap.dedent(f"""
        import multiprocessing
        import time

        def work(seconds):
            end = time.thread_time() + seconds
            while time.thread_time() < end:  # work
                eval("sum(range(2000))")

        if __name__ == "__main__":
            multiprocessing.set_start_method("{method}")
            started = multiprocessing.Process(target=work, args=(1,))
            started.start()
            started.join()
    """))
    done = profile(tmp_path / "started.db", program)
    files = done.sql("select distinct path, is_own, library from file where path in ('<string>', '<multiprocessing>')")
    assert sorted((r["path"], r["is_own"], r["library"]) for r in files) == [
        ("<multiprocessing>", 0, "python"), ("<string>", 1, None)]
    own = done.query("top 1000 own lines")
    assert {r["file"] for r in own} == {str(program), "<string>"}
    assert total([r for r in own if r["file"] == "<string>"], "cpu_s") > 0.3
    assert total([r for r in done.query("top 1000 waiting") if r["file"] == "<string>"], "wait_s") == 0


def test_functions_that_were_sent_to_a_process_are_at_their_lines(tmp_path):
    """cloudpickle, of joblib, Dask, Ray and PySpark, gives their code "<dynamic-code>" for a file."""
    program = tmp_path / "jobs.py"
    program.write_text(textwrap.dedent("""
        import time
        import types

        def work(seconds):
            end = time.thread_time() + seconds
            while time.thread_time() < end:  # work
                sum(range(2000))

        for i in range(10):
            code = work.__code__.replace(co_filename="<dynamic-code>")
            names = {"__name__": "__main__", "__file__": __file__, "time": time}
            types.FunctionType(code, names)(0.1)
    """))
    done = profile(tmp_path / "jobs.db", program)
    own = done.query("top 1000 own lines")
    assert {r["file"] for r in own} == {str(program)}
    assert total([r for r in own if (r["file"], r["line"]) == (str(program), 8)], "cpu_s") > 0.6
    assert not done.sql("select path from file where path = '<dynamic-code>'")
