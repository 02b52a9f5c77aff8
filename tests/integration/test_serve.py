# SPDX-License-Identifier: Apache-2.0
"""`pieprof serve`: who is answered, what the answers are, and that they are whole while a program writes."""

import json
import os
import re
import signal
import socket
import subprocess
import time

import helpers
import large_profile
import pytest
import served

WORK = "import hashlib, time\nkept = []\nwhile time.time() < {}:\n    kept.append(bytes(20000))\n    hashlib.sha256(kept[-1] * 20).digest()\n"


@pytest.fixture(scope="module")
def profile(tmp_path_factory):
    return helpers.profile(tmp_path_factory.mktemp("serve") / "p.db", "-c", WORK.format(time.time() + 1.5))


@pytest.fixture(scope="module")
def server(profile):
    with served.serving(helpers.binary(), profile.db) as found:
        yield found


def test_one_line_and_only_loopback(server, profile):
    assert server.name == str(profile.db)
    listening = {}
    for table in ("tcp", "tcp6"):
        with open(f"/proc/net/{table}", encoding="ascii") as rows:
            for row in list(rows)[1:]:
                local, state = row.split()[1], row.split()[3]
                if state == "0A" and int(local.split(":")[1], 16) == server.port:
                    listening[table] = local.split(":")[0]
    assert listening.pop("tcp") == "0100007F"
    assert listening in ({}, {"tcp6": "00000000000000000000000001000000"})


@pytest.mark.parametrize("path, headers, status", [
    ("/", {"Authorization": None}, 403),
    ("/data", {"Authorization": None}, 403),
    ("/data", {"Authorization": "Bearer 00112233445566778899aabbccddeeff"}, 403),
    ("/?token=00112233445566778899aabbccddeeff", {"Authorization": None}, 403),
    ("/data", {"Host": "evil.example"}, 403),
    ("/data", {"Host": "127.0.0.1"}, 403),
    ("/data", {"Origin": "http://evil.example"}, 403),
    ("/data", {"Origin": "null"}, 403),
    ("/data/", {}, 404),
    ("/../etc/passwd", {}, 404),
])
def test_who_is_refused(server, path, headers, status):
    found, about, body = server.ask(path, **headers)
    assert found == status
    assert b"sha256" not in body and len(body) < 200
    assert about["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert "Set-Cookie" not in about


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_but_reading(server, method):
    status, headers, _ = server.ask("/data", method)
    assert (status, headers["Allow"]) == (405, "GET, HEAD")


def test_the_token_once_then_a_cookie(server):
    status, headers, body = server.ask(f"/?token={server.token}", Authorization=None)
    assert status == 200 and headers["Content-Type"] == "text/html; charset=utf-8"
    cookie = headers["Set-Cookie"]
    assert cookie == f"pieprof-{server.port}={server.token}; Path=/; HttpOnly; SameSite=Strict"
    assert server.ask("/", Authorization=None, Cookie=cookie.split(";")[0])[0] == 200
    assert server.token not in body.decode()
    assert server.ask("/", "HEAD")[::2] == (200, b"")


def test_the_policy_is_that_of_the_file_and_lets_it_ask(server, profile, tmp_path):
    helpers.run([helpers.binary(), "report", profile.db, "--html", tmp_path / "p.html"])
    pattern = r'http-equiv="Content-Security-Policy" content="([^"]*)"'
    of_file = re.search(pattern, (tmp_path / "p.html").read_text(encoding="utf-8"))[1]
    _, headers, body = server.ask("/")
    assert re.search(pattern, body.decode())[1] == f"{of_file}; connect-src 'self'"
    assert headers["Content-Security-Policy"] == f"{of_file}; connect-src 'self'; frame-ancestors 'none'"
    assert [headers[name] for name in ("Cache-Control", "X-Content-Type-Options", "Referrer-Policy")] == [
        "no-store", "nosniff", "no-referrer"]


def test_tables_are_the_answers_to_questions(server, profile):
    data = server.data()
    assert data["cut"] == {} and data["page"]["limit_bytes"] is None
    for table, question in served.QUESTIONS.items():
        answer = profile.query(f"top all {question}" if "rank" in data[table] else question)
        assert answer == [dict(zip(data[table], row)) for row in zip(*data[table].values())], table
    assert len(data["functions"]["rank"]) >= 1 and len(data["memory"]["rank"]) >= 1


def test_what_the_browser_has_is_not_sent_again(server):
    _, headers, body = server.ask()
    status, _, again = server.ask(If_None_Match=headers["ETag"])
    assert (status, again) == (304, b"") and len(body) > 10_000
    assert server.ask(If_None_Match='"other"')[0] == 200
    assert float(re.fullmatch(r"cpu;dur=([\d.]+)", headers["Server-Timing"])[1]) >= 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_ends_cleanly(profile, number):
    with served.serving(helpers.binary(), profile.db) as one:
        one.data()
        assert one.end(number) == 0
        assert one.process.stderr.read() == ""
    assert [path.name for path in profile.db.parent.iterdir()] == ["p.db"]


def test_a_busy_port(profile):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = helpers.run([helpers.binary(), "serve", profile.db, "--port", port])
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"pieprof: serve: port {port} is in use; take another one, or none: then a free one is found\n"


@pytest.mark.parametrize("words, status, said", [
    (["missing.db"], 1, "cannot open missing.db: No such file or directory"),
    (["text"], 1, "text is not a profile"),
    (["empty"], 1, "empty holds no profile"),
    (["p.db", "--run", "9"], 1, "run 9"),
    (["p.db", "--process", "999999"], 1, "there is no process 999999"),
    (["p.db", "--port", "70000"], 2, "70000 is not a port: 0 to 65535"),
    (["p.db", "--port", "-1"], 2, "-1 is not a port"),
    (["p.db", "other.db"], 2, "one file at a time"),
    (["--bad"], 2, "bad option"),
])
def test_one_line_says_what_is_wrong(profile, tmp_path, words, status, said):
    (tmp_path / "text").write_text("text " * 1000)
    (tmp_path / "empty").touch()
    (tmp_path / "p.db").symlink_to(profile.db)
    done = helpers.run([helpers.binary(), "serve", *words], cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (status, "", 1)
    assert said in done.stderr


def test_a_browser_is_opened(profile, tmp_path):
    script = tmp_path / "browser"
    script.write_text(f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/part && mv {tmp_path}/part {tmp_path}/opened\n')
    script.chmod(0o755)
    with served.serving(helpers.binary(), profile.db, "--open", env=helpers.clean_environment(BROWSER=str(script))) as one:
        end = time.time() + 30
        while not (tmp_path / "opened").exists() and time.time() < end:
            time.sleep(0.05)
        assert (tmp_path / "opened").read_text() == one.url


def test_one_process_of_a_run(pieprof, tmp_path):
    db = tmp_path / "p.db"
    code = "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'sum(range(3000000))'])"
    child = helpers.profile(db, "-c", code).query("processes")[1]
    with served.serving(pieprof, db, "--process", str(child["pid"])) as one:
        data = one.data()
    assert data["processes"]["pid"] == [child["pid"]] and data["page"]["process"] == str(child["pid"])
    assert data["processes"]["cpu_s"] == [child["cpu_s"]]


def cpu_of(data):
    nodes = data["tree"]["nodes"]
    return sum(sum(nodes[name] or []) for name in ("python_ns", "native_ns", "system_ns")) / 1e9


def test_an_answer_is_one_state_of_a_growing_profile(pieprof, tmp_path):
    """All parts of an answer are of the same state, though each is a statement of its own; and they grow."""
    db = tmp_path / "p.db"
    running = subprocess.Popen([pieprof, "-q", "-o", db, "-c", WORK.format("float('inf')")], env=helpers.clean_environment())
    try:
        while not helpers.is_made(db):
            time.sleep(0.05)
        with served.serving(pieprof, db) as one:
            states = []
            while len(states) < 4 or states[-1] < states[0] + 0.5:
                data = one.data()
                assert data["run"]["cause"] is None
                assert cpu_of(data) == pytest.approx(data["run"]["cpu_s"], abs=1e-6)
                assert sum(data["threads"]["cpu_s"]) == pytest.approx(data["run"]["cpu_s"], abs=1e-6)
                states.append(data["run"]["cpu_s"])
            assert states == sorted(states)
            running.terminate()
            running.wait(timeout=60)
            assert one.data()["run"]["cause"] == "signal"
    finally:
        running.kill()
        running.wait()
    assert os.listdir(tmp_path) == ["p.db"]


def test_what_a_file_leaves_out_is_served(pieprof, tmp_path):
    db, page = tmp_path / "p.db", tmp_path / "p.html"
    profile = helpers.profile(db, "-c", "sum(range(3000000))")
    large_profile.enlarge(db, files=60, contexts=3000)
    helpers.run([pieprof, "report", db, "--html", page])
    of_file = json.loads(re.search(r'id="pieprof-data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)[1])
    assert "functions" in of_file["cut"]
    with served.serving(pieprof, db) as one:
        data = one.data()
    assert data["cut"] == {}
    assert len(data["functions"]["rank"]) == of_file["cut"]["functions"]["rows_total"]
    assert len(data["source"]["text"]["line"]) >= 60 * 40
    assert cpu_of(data) == pytest.approx(profile.query("runs")[0]["cpu_s"], abs=1e-6)
