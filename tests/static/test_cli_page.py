# SPDX-License-Identifier: Apache-2.0
"""docs/cli.md has each option and command, as the tables of launcher/ have them."""
import subprocess
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "scripts/lib"))
import cli_page  # noqa: E402


@pytest.fixture(scope="module")
def rows():
    return cli_page.records()


def option(name, **fields):
    return {**dict.fromkeys(cli_page.OPTION, ""), "name": name, "kind": "flag", "meaning": "a meaning", **fields}


def test_the_page_is_what_the_tables_say(rows):
    page = tree.text("docs/cli.md")
    assert page == cli_page.whole(page, rows), "run scripts/cli-page"


def test_the_page_has_each_option_and_command_of_the_help(rows):
    said = subprocess.run([tree.BUILD / "pieprof", "--help"], capture_output=True, text=True, check=True).stdout
    options = [word for line in said.splitlines() for word in line[:32].replace(",", " ").split() if word[:2] == "--" and word[2:3].isalpha()]
    commands = [line.split()[0] for line in said.partition("Commands:")[2].partition("\n\n")[0].split("\n")[1:]]
    page = cli_page.tables(rows)
    assert len(options) > 30 and not [word for word in options if f"`{word}" not in page]
    assert len(commands) > 8 and not [word for word in commands if word != "run" and f"\n### {word}\n" not in page]


def test_a_flag_and_its_opposite_share_a_row():
    found = list(cli_page.option_rows([option("copies", is_default="default"), option("no-copies")]))
    assert found == ["| `--copies`, `--no-copies` | flag | on |  | a meaning |"]


def test_an_option_that_is_no_flag_has_no_opposite():
    found = list(cli_page.option_rows([option("learn", kind="list", value="PLACE"), option("no-learn")]))
    assert [row.split(" | ")[0] for row in found] == ["| `--learn PLACE`", "| `--no-learn`"]


def test_a_value_has_its_range_default_and_variable():
    row = option("rate", letter="r", value="HZ", kind="quantity", right="from 1hz on (not 0)", default="1khz", environment="RATE")
    assert list(cli_page.option_rows([row])) == ["| `-r`, `--rate HZ` | from 1hz on | 1khz | `RATE` | a meaning |"]


def test_a_bar_does_not_end_a_cell():
    rows = [("command", {"name": "ask", "synopsis": "A", "options": "", "meaning": "ask"}), ("word", {"word": "A|B", "meaning": "c"})]
    assert "\nAsk.\n\n```\npieprof ask A\n```\n" in cli_page.tables(rows) and "| `A\\|B` | c |" in cli_page.tables(rows)
