# SPDX-License-Identifier: Apache-2.0
"""The tables of a profile as docs/file.md has them: storage/file/tables.sql, whose comments say what each column
means."""

import pathlib
import re
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "file.md"
SQL = ROOT / "storage" / "file" / "tables.sql"
BEGIN, END = "<!-- tables: made by scripts/file-page -->\n", "<!-- end of tables -->\n"

TABLE = re.compile(r"((?:^--[^\n]*\n)*)^CREATE TABLE (\w+) \((.*?)^\)[^\n]*;\n", re.M | re.S)
COLUMN = re.compile(r"  ([a-z]\w*) (INTEGER|TEXT|REAL|BLOB)([^-]*)(?:-- ?(.*))?$")
MORE = re.compile(r"\s+-- ?(.*)$")


def columns(body):
    """[name, type, attributes, meaning] of each column, in order."""
    found = []
    for line in body.splitlines():
        column, more = COLUMN.match(line), MORE.match(line)
        if column:
            found.append([*column.groups()[:3], column[4] or ""])
        elif more and found:
            found[-1][3] += " " + more[1]
    return found


def meaning(attributes, text):
    reference, default = re.search(r"REFERENCES (\w+)", attributes), re.search(r"DEFAULT (\w+)", attributes)
    said = [text.strip() or (f"{reference[1]} (id)" if reference else "")]
    if default:
        said.append(f"{default[1]} for rows of files that did not have it")
    return "; ".join(s for s in said if s)


def table(lead, name, body):
    key, unique = (re.search(rf"^  {word} \(([^)]*)\)", body, re.M) for word in ("PRIMARY KEY", "UNIQUE"))
    yield f"### {name}\n"
    said = " ".join(line[2:].strip() for line in lead.splitlines())
    if said:
        yield textwrap.fill(said, 120, break_long_words=False, break_on_hyphens=False) + "\n"
    own_key = next((c[0] for c in columns(body) if "PRIMARY KEY" in c[2]), None)
    yield f"Key: ({' '.join(key[1].split()) if key else own_key})." + (f" Unique: ({unique[1]})." if unique else "") + "\n"
    yield "| column | type | meaning |\n|---|---|---|"
    for column, kind, attributes, text in columns(body):
        nullable = "" if "NOT NULL" in attributes or "PRIMARY KEY" in attributes else ", or NULL"
        yield f"| `{column}` | {kind.lower()}{nullable} | {meaning(attributes, text)} |"
    yield ""


def tables(sql):
    """The page's part between its marks."""
    return "\n".join(line for found in TABLE.finditer(sql) for line in table(*found.groups())) + "\n"


def whole(page, sql):
    """The page with that part as it should be."""
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    return before + BEGIN + "\n" + tables(sql) + END + after
