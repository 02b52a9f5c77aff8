# SPDX-License-Identifier: Apache-2.0
"""The command line as docs/cli.md has it: the tables of launcher/options and launcher/run, printed by
command_line.c."""

import os
import pathlib
import shlex
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "cli.md"
BEGIN, END = "<!-- tables: made by scripts/cli-page -->\n", "<!-- end of tables -->\n"
SOURCES = ("scripts/lib/command_line.c", "launcher/options/options.c", "launcher/options/output_path.c",
           "launcher/options/parse.c", "launcher/options/run_name.c", "launcher/options/value.c",
           "launcher/run/commands.c", "launcher/text/words.c")
OPTION = ("name", "letter", "value", "kind", "meaning", "right", "default", "environment", "is_default")
COMMAND = ("name", "synopsis", "options", "meaning")
WORD = ("word", "meaning")
FIELDS = {"option": OPTION, "command": COMMAND, "word": WORD}


def records():
    """[(kind, {field: text})]: the rows of the tables, as the C sources have them now."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "command_line"
        compiler = shlex.split(os.environ.get("CC", "cc"))
        subprocess.run([*compiler, "-std=gnu17", "-D_GNU_SOURCE", f"-I{ROOT}", "-o", program,
                        *(ROOT / source for source in SOURCES), "-lm"], check=True)
        return parsed(subprocess.run([program], check=True, capture_output=True).stdout.decode())


def parsed(output):
    *lines, last = output.split("\x1e")
    assert last == "end"
    rows = [line.split("\x1f")[:-1] for line in lines]
    return [(kind, dict(zip(FIELDS[kind], fields, strict=True))) for kind, *fields in rows]


def type_of(option):
    """The values that an option takes."""
    if option["kind"] == "flag":
        return "flag"
    if option["kind"] == "action":
        return "action"
    if option["kind"] == "list":
        return "text, may be repeated"
    if option["kind"] in ("text", "path"):
        return option["kind"]
    return option["right"].split(" (")[0]


def spelled(option):
    short = f"`-{option['letter']}`, " if option["letter"] else ""
    return f"{short}`--{option['name']}{' ' + option['value'] if option['value'] else ''}`"


def option_rows(options):
    """A row for each option; a flag and its opposite share one."""
    flags = {option["name"] for option in options if option["kind"] == "flag"}
    for option in options:
        name, default = option["name"], option["default"]
        if name.startswith("no-") and name[3:] in flags:
            continue
        has_opposite = option["kind"] == "flag" and f"no-{name}" in flags
        cells = [spelled(option) + (f", `--no-{name}`" if has_opposite else ""), type_of(option),
                 "on" if option["is_default"] else default,
                 f"`{option['environment']}`" if option["environment"] else "", option["meaning"]]
        yield "| " + " | ".join(cells) + " |"


def escaped(text):
    return text.replace("|", "\\|")


def tables(rows):
    """The page's part between its marks."""
    lines = ["## Options of a run", "", "| option | value | default | environment | meaning |", "|---|---|---|---|---|"]
    lines += option_rows([fields for kind, fields in rows if kind == "option"])
    lines += ["", "## Commands"]
    for kind, fields in rows:
        if kind == "command":
            usage = " ".join(part for part in ("pieprof", fields["name"], fields["synopsis"], fields["options"]) if part)
            meaning = fields["meaning"]
            lines += ["", f"### {fields['name']}", "", f"{meaning[0].upper()}{meaning[1:]}.", "", "```", usage, "```", "",
                      "| word or option | meaning |", "|---|---|"]
        elif kind == "word":
            lines.append(f"| `{escaped(fields['word'])}` | {escaped(fields['meaning'])} |")
    return "\n".join(lines) + "\n"


def whole(page, rows):
    """The page with that part as it should be."""
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    return before + BEGIN + "\n" + tables(rows) + "\n" + END + after
