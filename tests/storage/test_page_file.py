# SPDX-License-Identifier: Apache-2.0
"""`pieprof report --html FILE [--open]`, and how the page comes into the program."""

import base64
import hashlib
import html.parser
import json
import os
import pathlib
import subprocess
import sys

import page_contract
import pytest
from conftest import clean_environment, is_one_line, make

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "lib"))
import build_page  # noqa: E402

LIMIT = 3_000_000


@pytest.fixture(scope="module")
def paged(tmp_path_factory):
    """A program that has the page, with a profile."""
    program = make(tmp_path_factory.mktemp("page"), 1, 1)
    done = program("report", "a.db", "--html", "a.html")
    if "was built without the page" in done.complaint:
        assert done.returncode == 1 and is_one_line(done.complaint) and not (program.folder / "a.html").exists()
        pytest.skip(done.complaint.strip())
    assert done.returncode == 0 and done.complaint == ""
    size = (program.folder / "a.html").stat().st_size
    assert done.text.startswith("a.html: ") and size <= LIMIT
    return program


class Elements(html.parser.HTMLParser):
    """[(tag, attributes, text)] of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=False)
        self.found, self.open = [], None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.open = [tag, dict(attrs), ""]
        self.found.append(self.open)

    def handle_data(self, data):
        if self.open:
            self.open[2] += data

    def handle_endtag(self, tag):
        self.open = None


def elements(path):
    return Elements(path.read_text(encoding="utf-8")).found


def data_of(path):
    text, = (text for tag, attributes, text in elements(path) if attributes.get("id") == "pieprof-data")
    return json.loads(text)


def test_the_page_has_the_data_of_the_last_run(paged):
    data = data_of(paged.folder / "a.html")
    assert page_contract.faults(data) == []
    assert data["run"]["run"] == 2 and data["page"]["profile"] == "a.db" and data["page"]["process"] is None
    assert data["findings"]["rank"]


def test_a_run_and_a_process_can_be_chosen(paged):
    assert paged("report", "a.db", "--html", "b.html", "--run", "1").returncode == 0
    assert data_of(paged.folder / "b.html")["run"]["run"] == 1
    assert paged("report", "a.db", "--html", "b.html", "--run", "1", "--process", "1").returncode == 0
    data = data_of(paged.folder / "b.html")
    assert data["page"]["process"] == "1" and data["processes"]["process"] == [1]


def test_nothing_in_the_page_may_ask_for_anything(paged):
    """The policy allows the page's own script and style by their hashes, and nothing else."""
    found = elements(paged.folder / "a.html")
    policy, = (attributes["content"] for tag, attributes, _ in found if attributes.get("http-equiv") == "Content-Security-Policy")
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split(";")}
    assert rules["default-src"] == ["'none'"] and rules["base-uri"] == rules["form-action"] == ["'none'"]
    for tag, rule in (("script", "script-src"), ("style", "style-src")):
        texts = [text for name, attributes, text in found if name == tag and attributes.get("type") != "application/json"]
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert texts and rules[rule] == [f"'sha256-{one}'" for one in hashes]
    assert set(rules) <= {"default-src", "base-uri", "form-action", "script-src", "style-src", "img-src"}
    assert rules.get("img-src", ["data:"]) == ["data:"]
    assert not [attributes for _, attributes, _ in found if "src" in attributes]
    assert not [value for _, attributes, _ in found if (value := attributes.get("href")) and not value.startswith("data:")]


def test_a_page_replaces_the_one_before_as_a_whole(paged, tmp_path):
    file = tmp_path / "page.html"
    file.write_text("before")
    file.chmod(0o640)
    done = paged("report", "a.db", "--html", file)
    assert done.returncode == 0 and file.read_text().startswith("<!doctype html>") and file.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [file]


def test_a_page_may_go_to_standard_output(paged):
    done = paged("report", "a.db", "--html", "-")
    assert done.returncode == 0 and done.text.startswith("<!doctype html>") and done.text.rstrip().endswith("</html>")


@pytest.mark.parametrize("words, status, said", [
    (["a.db", "--html", "missing/a.html"], 1, "missing/a.html"),
    (["a.db", "--html", "a.db"], 1, "profile itself"),
    (["a.db", "--html", "/dev/full"], 1, "/dev/full"),
    (["src/app.py", "--html", "c.html"], 1, "src/app.py"),
    (["missing.db", "--html", "c.html"], 1, "missing.db"),
    (["a.db", "--html", "c.html", "--run", "9"], 1, "no run 9"),
    (["a.db", "--html"], 2, "--html"),
    (["a.db", "--open"], 2, "--html FILE"),
    (["a.db", "--html", "-", "--open"], 2, "--html FILE"),
])
def test_what_cannot_be_done_is_one_line(paged, words, status, said):
    done = paged("report", *words)
    assert done.returncode == status and is_one_line(done.complaint) and said in done.complaint
    assert not (paged.folder / "c.html").exists() and not list(paged.folder.glob("*.html.*"))


@pytest.fixture
def browser(tmp_path):
    """A program that writes down its words and ends with a status."""
    def make_browser(name, status=0):
        file = tmp_path / name
        file.write_text(f'#!/bin/sh\nprintf "%s\\n" "{name}" "$@" >>"{tmp_path}/opened"\nexit {status}\n')
        file.chmod(0o755)
        return file

    make_browser.opened = lambda: (tmp_path / "opened").read_text().splitlines() if (tmp_path / "opened").exists() else []
    make_browser.folder = tmp_path
    return make_browser


def opened(paged, **environment):
    return paged("report", "a.db", "--html", "a page.html", "--open", env=clean_environment(**environment))


def test_a_browser_gets_the_page(paged, browser):
    file = str(paged.folder / "a page.html")
    done = opened(paged, BROWSER=f"{browser('one')} --new")
    assert (done.returncode, done.complaint, browser.opened()) == (0, "", ["one", "--new", file])
    done = opened(paged, BROWSER=f"{browser('two')} --url=%s last")
    assert (done.returncode, browser.opened()[3:]) == (0, ["two", f"--url={file}", "last"])


def test_the_next_browser_is_tried(paged, browser):
    done = opened(paged, BROWSER=f"/missing/browser:{browser('bad', 3)}:{browser('good')}:{browser('never')}")
    assert (done.returncode, done.complaint, [word for word in browser.opened() if "/" not in word]) == (0, "", ["bad", "good"])


def test_xdg_open_comes_last(paged, browser):
    browser("xdg-open")
    assert opened(paged, PATH=str(browser.folder)).returncode == 0
    assert browser.opened() == ["xdg-open", str(paged.folder / "a page.html")]


def test_without_a_browser_the_page_is_named(paged, tmp_path):
    done = opened(paged, PATH=str(tmp_path), BROWSER="/missing/browser")
    assert done.returncode == 0 and is_one_line(done.complaint) and str(paged.folder / "a page.html") in done.complaint


EMBED = ROOT / "storage" / "embed-page"


def embedded(tmp_path, page):
    (tmp_path / "page.html").write_bytes(page)
    return subprocess.run([sys.executable, EMBED, tmp_path / "page.html"], capture_output=True, text=True, check=False)


def test_a_page_becomes_two_arrays(tmp_path):
    done = embedded(tmp_path, "<p>é</p>@PIEPROF_DATA@</html>".encode())
    head, tail = (bytes(int(number) % 256 for number in part.split("{")[1].split("}")[0].replace("\n", "").split(",")[:-1])
                  for part in done.stdout.split("static const char ")[1:])
    assert done.returncode == 0 and (head.decode(), tail.decode()) == ("<p>é</p>", "</html>")
    assert embedded(tmp_path, b"").returncode == 0
    assert "2 times" in embedded(tmp_path, b"@PIEPROF_DATA@ @PIEPROF_DATA@").stderr


@pytest.fixture
def web(tmp_path, monkeypatch):
    """Sources of a page, and no npm."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "web" / "dist").mkdir(parents=True)
    (tmp_path / "web" / "package.json").write_text("{}")
    return tmp_path / "web"


def test_a_page_that_was_kept_needs_no_npm(web, capsys):
    (web / "dist" / "page.html").write_text("kept")
    (web / "dist" / "page.sources").write_text(build_page.stamp(web))
    assert build_page.find(web, "enabled") == b"kept" and capsys.readouterr().out == ""
    (web / "new.ts").write_text("")
    assert build_page.find(web, "enabled") == b"kept" and "older sources" in capsys.readouterr().out
    assert build_page.find(web, "disabled") == b""


def test_a_page_without_npm_is_none(web, capsys):
    assert build_page.find(web, "auto") == b"" and "npm is not there" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="npm is not there"):
        build_page.find(web, "enabled")


def test_npm_makes_the_page_once(web, tmp_path, capsys):
    (web / "package-lock.json").write_text("{}")
    npm = tmp_path / "npm"
    npm.write_text(f'#!/bin/sh\necho "$1" >>"{tmp_path}/calls"\n[ "$1" = ci ] || echo made >dist/page.html\n')
    npm.chmod(0o755)
    assert [build_page.find(web, "auto") for _ in range(2)] == [b"made\n"] * 2
    assert (tmp_path / "calls").read_text() == "ci\nrun\n" and capsys.readouterr().out == ""
    build_page.main(str(web), str(tmp_path / "out.html"), str(tmp_path / "out.d"), "auto")
    assert (tmp_path / "out.html").read_bytes() == b"made\n"
    assert str(web / "package.json") in (tmp_path / "out.d").read_text()
    npm.write_text('#!/bin/sh\necho "no network"\nexit 1\n')
    (web / "package.json").write_text("{ }")
    assert build_page.find(web, "auto") == b"made\n" and "no network" in capsys.readouterr().out
    os.unlink(web / "dist" / "page.html")
    assert build_page.find(web, "auto") == b"" and "no network" in capsys.readouterr().out
