# SPDX-License-Identifier: Apache-2.0
"""The launcher's own command line: which words are whose, what is refused, and that refusing comes before the start."""

import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile

import pytest

import helpers

SHOW = "import sys; print(sys.argv, sys.flags.optimize, sys.flags.inspect, sys.flags.quiet, sys.flags.verbose, sys._xoptions)"


@pytest.fixture
def run(pieprof, tmp_path):
    """Runs pieprof in a folder of its own and returns the CompletedProcess."""
    (tmp_path / "show.py").write_text(SHOW)
    (tmp_path / "query").write_text("print('the file')")

    def call(*words, env=None, **more):
        return helpers.run([pieprof, *words], cwd=tmp_path, env=helpers.clean_environment(**(env or {})), **more)

    return call


def assert_refused(done, *parts):
    """One clear line, status 125, and nothing was started."""
    assert done.returncode == 125, done
    assert done.stdout == ""
    assert done.stderr.startswith("pieprof: ") and done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr


# Words before the program, and what show.py sees: [argv] optimize inspect quiet verbose xoptions.
OWN_AND_PYTHONS = [
    (["-q"], "[] 0 0 0 0 {}"),
    (["-qo", "x.db"], "[] 0 0 0 0 {}"),
    (["-qox.db"], "[] 0 0 0 0 {}"),
    (["-q", "--output=x.db", "--rate", "2khz"], "[] 0 0 0 0 {}"),
    (["-O", "-q", "-X", "a=1", "-r", "100", "-OXb"], "[] 2 0 0 0 {'a': '1', 'b': True}"),
    (["-q", "-Wignore", "-Oq"], "[] 1 0 1 0 {}"),
    (["-q", "--check-hash-based-pycs", "always"], "[] 0 0 0 0 {}"),
    (["run", "-q"], "[] 0 0 0 0 {}"),
    (["-q", "--", "-q"], "[] 0 0 1 0 {}"),
    (["-q", "-i", "2ms", "--", "-O", "-Xz"], "[] 1 0 0 0 {'z': True}"),
    (["-q", "--no-children", "--no-argv", "--overhead", "3%", "--no-time"], "[] 0 0 0 0 {}"),
    (["-q", "--no-redundancy", "--sampler", "none", "--fp-tolerance", "1e-9"], "[] 0 0 0 0 {}"),
    (["-q", "--time", "--clock", "itimer", "--only", ".", "--exclude", "x"], "[] 0 0 0 0 {}"),
]


@pytest.mark.parametrize("words, seen", OWN_AND_PYTHONS)
def test_options_before_the_program(run, words, seen):
    done = run(*words, "show.py")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == seen.replace("[]", "['show.py']") + "\n"


@pytest.mark.parametrize("words", [["-q", "-o", "y.db"], ["-z", "--nope"], ["--", "run"], ["query"], ["--help"]])
def test_what_follows_the_program_is_its_own(run, words):
    assert run("-q", "show.py", *words).stdout.startswith(repr(["show.py", *words]))
    assert run("-q", "-c", SHOW, *words).stdout.startswith(repr(["-c", *words]))
    assert run("-q", "-c" + SHOW, *words).stdout.startswith(repr(["-c", *words]))
    assert run("-q", "-", *words, input=SHOW).stdout.startswith(repr(["-", *words]))
    assert run("-q", "-m", "show", *words).stdout.startswith("['")


def test_a_file_with_the_name_of_a_command(run):
    assert run("-q", "./query").stdout == "the file\n"
    assert run("run", "-q", "query").stdout == "the file\n"
    assert run("query").stdout == ""


BAD = [
    (["-z"], "-z"),
    (["--nope"], "--nope"),
    (["--no-argv=1"], "--no-argv"),
    (["-qz"], "-z"),
    (["-o", ""], "-o"),
    (["-r", "6khz"], "6khz"),
    (["-r", "0"], "'0'"),
    (["-r", "fast"], "fast"),
    (["-r", "nan"], "nan"),
    (["-i", "show.py"], "show.py", "-- -i"),
    (["-i", "1"], "'1'"),
    (["-i", "10us"], "10us"),
    (["--overhead", "-1%"], "'-1%'"),
    (["--overhead", "101%"], "101%"),
    (["--clock", "sun"], "sun", "perf"),
    (["--sampler", "ibs"], "ibs", "taskclock"),
    (["--fp-tolerance", "1"], "'1'", "1e-9"),
    (["--fp-tolerance", "show.py"], "show.py"),
    (["-f", "csv"], "export"),
]


@pytest.mark.parametrize("words, parts", [(b[0], b[1:]) for b in BAD])
def test_bad_options(run, words, parts, tmp_path):
    assert_refused(run(*words, "show.py"), *parts)
    assert not (tmp_path / "pieprof.db").exists()


@pytest.mark.parametrize("word", ["-o", "--rate", "-qo"])
def test_a_value_is_missing(run, word):
    assert_refused(run(word), word, "needs a value")


@pytest.mark.parametrize("opts, part", [("-z", "-z"), ("'open", "quote"), ("show.py", "show.py"), ("-X dev", "-X"),
                                        ("-o", "-o"), ("--", "--")])
def test_bad_options_in_the_environment(run, opts, part):
    assert_refused(run("show.py", env={"PIEPROF_OPTS": opts}), part, "PIEPROF_OPTS" if opts != "-o" else "-o")


def test_options_come_from_the_environment(run, tmp_path):
    env = {"PIEPROF_OPTS": "-q -o 'from opts.db'", "PIEPROF_OUTPUT": "from_output.db"}
    assert run("show.py", env=env).stderr == ""
    assert (tmp_path / "from opts.db").exists() and not (tmp_path / "from_output.db").exists()
    env["PIEPROF_OPTS"] = "-q"
    run("show.py", env=env)
    assert (tmp_path / "from_output.db").exists()
    run("-o", "from_words.db", "show.py", env=env)
    assert (tmp_path / "from_words.db").exists()
    assert not (tmp_path / "pieprof.db").exists()


def test_the_default_output_is_where_the_program_was_started(run, tmp_path):
    assert run("-q", "-c", "import os; os.chdir('/')").returncode == 0
    assert (tmp_path / "pieprof.db").exists()


def test_an_output_that_cannot_be_written(run, tmp_path):
    for output in "/nonexistent/x.db", ".", "/dev/null":
        assert_refused(run("-q", "-o", output, "show.py"), output.lstrip("."))


def test_under_pythons_name_an_unwritable_output_costs_one_line(pieprof, tmp_path):
    link = tmp_path / "python3"
    link.symlink_to(pieprof)
    for env in {"PIEPROF_OUTPUT": "/nonexistent/x.db"}, {"PIEPROF": "1", "PIEPROF_OPTS": "--nope"}:
        done = helpers.run([link, "-c", "print(1)"], env=helpers.clean_environment(**env))
        assert (done.returncode, done.stdout) == (0, "1\n")
        assert done.stderr.startswith("pieprof: warning: ") and done.stderr.count("\n") == 1


def test_under_pythons_name_our_options_are_not_ours(pieprof, tmp_path):
    link = tmp_path / f"python3.{helpers.python_minor()}"
    link.symlink_to(pieprof)
    done = helpers.run([link, "--no-argv", "x"])
    assert done.returncode == 2 and re.search("nknown option:? --no-argv", done.stderr)  # its text is 3.15's


def test_help_and_version(run):
    for word in "--help", "-h":
        done = run(word)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("usage: pieprof") and "--overhead" in done.stdout
        assert all(len(line) <= 100 for line in done.stdout.splitlines())
        for later in "diff", "selftest":
            assert f"\n  {later}" not in done.stdout
    for word in "--version", "-V":
        done = run(word)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("pieprof ") and "Python 3." in done.stdout and done.stdout.count("\n") == 1


def test_every_command_of_the_help_exists(run):
    commands = run("--help").stdout.split("Commands:")[1].split("Environment:")[0].strip().splitlines()
    names = [line.split()[0] for line in commands if line.startswith("  ") or line.startswith("run")]
    assert {"query", "report", "export", "merge", "install", "uninstall", "runs", "debug", "doctor"} <= set(names)
    for name in set(names) - {"run"}:
        for word in "--help", "-h":
            done = run(name, word)
            assert (done.returncode, done.stderr) == (0, "") and done.stdout.startswith(f"usage: pieprof {name}")
            assert all(len(line) <= 110 for line in done.stdout.splitlines())
        # What the usage names, the help explains.
        usage, _, details = done.stdout.partition("\n")
        assert all(option in details for option in re.findall(r"--[a-z]+", usage)), done.stdout
        wrong = run(name, "--nothing")
        assert wrong.returncode == 2 and usage in wrong.stderr and wrong.stderr.count("\n") == 1


def test_questions_of_the_help_have_answers(run, tmp_path):
    db, script = tmp_path / "x.db", tmp_path / "x.py"
    script.write_text("sum(range(10**6))\n")
    assert run("-q", "-o", db, script).returncode == 0
    questions = run("query", "--help").stdout.split("one of\n")[1].split("and then")[0].split("\n  ")
    assert len(questions) > 30
    for question in questions:
        place = script if "source" in question else "<module>"
        assert run("query", db, question.strip().replace(" of X", f" of {place}")).returncode == 0, question


def test_set_id_programs_take_nothing_from_the_environment(pieprof, python_for_all):
    """AT_SECURE: a copy that runs as another user."""
    if os.geteuid() != 0:
        pytest.skip("only root can make a set-id copy for another user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(pieprof, os.path.join(folder, "python3"))
        os.chown(copy, 65534, 65534)
        os.chmod(copy, 0o755 | stat.S_ISUID)
        env = helpers.clean_environment(PIEPROF="1", PIEPROF_OUTPUT="/nonexistent/x")
        done = helpers.run([copy, "-c", "import os; print(os.geteuid())"], env=env, user=65533, cwd="/")
    assert (done.returncode, done.stdout, done.stderr) == (0, "65534\n", "")


CHILDREN = """
import multiprocessing, os, subprocess, sys

if __name__ == "__main__":
    subprocess.run([sys.executable, "-c", "pass"], env={})
    if os.fork() == 0:
        os._exit(4)
    os.wait()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(abs, [-1]) == [1]
        pool.close()
        pool.join()
    os.execv(sys.executable, [sys.executable, "-c", "raise SystemExit(5)"])
"""


def processes(db):
    return helpers.query(db, "select run, pid, parent_pid, cause, exit_status from v_process order by process")


def test_the_whole_tree_is_one_run(run, tmp_path):
    (tmp_path / "children.py").write_text(CHILDREN)
    done = run("-q", "-o", "x.db", "children.py")
    assert done.returncode == 5  # the resource tracker complains: what is replaced by exec does not clean up
    rows = processes(tmp_path / "x.db")
    assert {row["run"] for row in rows} == {1}
    root = rows[0]["pid"]
    assert rows[0]["cause"] == "exec" and rows[0]["exit_status"] is None
    assert [row["exit_status"] for row in rows if row["pid"] == root][1:] == [5], "the program that it became"
    started = [row for row in rows[1:] if row["pid"] != root]
    assert {row["parent_pid"] for row in started} == {root}
    assert len(started) == 4, "subprocess, fork, resource tracker and worker of the pool"
    assert ("_exit", 4) in {(row["cause"], row["exit_status"]) for row in started}


@pytest.mark.parametrize("kind", ["pieprof", "python"])
def test_children_are_left_alone_when_asked(pieprof, run, tmp_path, kind):
    (tmp_path / "children.py").write_text(CHILDREN)
    if kind == "pieprof":
        done = run("-q", "--no-children", "-o", "x.db", "children.py")
    else:
        (tmp_path / "python3").symlink_to(pieprof)
        env = {"PIEPROF": "1", "PIEPROF_CHILDREN": "0", "PIEPROF_OUTPUT": "x.db"}
        done = helpers.run([tmp_path / "python3", "children.py"], cwd=tmp_path, env=helpers.clean_environment(**env))
    assert done.returncode == 5  # the resource tracker complains: what is replaced by exec does not clean up
    assert [row["cause"] for row in processes(tmp_path / "x.db")] == ["exec"]


ENDINGS = {
    "end": ("pass", 0, "exit", 0),
    "sys.exit": ("import sys; sys.exit(3)", 3, "exit", 3),
    "exception": ("1/0", 1, "exit", 1),
    "os._exit": ("import os; os._exit(7)", 7, "_exit", 7),
    "exit in a thread": ("import os, threading; threading.Thread(target=os._exit, args=[8]).start(); "
                         "import time; time.sleep(9)", 8, "_exit", 8),
    "C exit": ("import ctypes; ctypes.CDLL(None).exit(9)", 9, "exit", 9),
    "interrupt": ("import os, signal; os.kill(os.getpid(), signal.SIGINT)", -signal.SIGINT, "signal", 130),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_the_end_is_written_and_the_summary_printed(run, tmp_path, how):
    code, status, cause, stored = ENDINGS[how]
    done = run("-o", "x.db", "-c", code)
    assert done.returncode == status
    assert [(row["cause"], row["exit_status"]) for row in processes(tmp_path / "x.db")] == [(cause, stored)]
    assert done.stderr.count("pieprof report") == 1, "the summary ends with what to type next"


def test_after_an_exec_in_place_the_summary_comes_at_the_end(run):
    code = "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'import sys; print(1, file=sys.stderr)'])"
    err = run("-o", "x.db", "-c", code).stderr
    assert err.startswith("1\n") and err.count("pieprof report") == 1


def test_a_forked_child_does_not_print_the_summary(run):
    err = run("-o", "x.db", "-c", "import os, sys\nif os.fork() == 0: sys.exit(3)\nprint(os.wait()[1])").stderr
    assert err.count("pieprof report") == 1


def test_interrupt_from_the_terminal(pieprof, tmp_path):
    """Ctrl-C reaches the program, which ends by it, and the profile is complete."""
    argv = [pieprof, "-q", "-o", tmp_path / "x.db", "-c", "import time; print('on', flush=True); time.sleep(60)"]
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             env=helpers.clean_environment(),
                             preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    assert child.stdout.readline() == "on\n"
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=30)
    assert child.returncode == -signal.SIGINT and err.rstrip().endswith("KeyboardInterrupt")
    assert [row["cause"] for row in processes(tmp_path / "x.db")] == ["signal"]
