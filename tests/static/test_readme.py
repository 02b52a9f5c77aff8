# SPDX-License-Identifier: Apache-2.0
"""The manual's table of questions, views and columns is what the schema has."""
import re
import sqlite3
import subprocess

import tree

ROW = re.compile(r"^\|[^|\n]*\| `(v_\w+)` \| ([a-z_0-9]+(?:, [a-z_0-9]+)*) \|$", re.M)
PAGE = "docs/questions.md"


def documented(page):
    return {view: columns.split(", ") for view, columns in ROW.findall(page)}


def in_schema(script):
    connection = sqlite3.connect(":memory:")
    connection.executescript(script)
    views = [name for (name,) in connection.execute("select name from sqlite_master where type = 'view'")]
    columns = {view: [row[1] for row in connection.execute(f"pragma table_info({view})")] for view in views}
    return {view: names for view, names in columns.items() if view.startswith("v_")}


def expanded(sql):
    """As the build does it (storage/embed-text), but for the values of enumerations."""
    done = subprocess.run(["sed", "-f", tree.ROOT / "storage/sql-macros.sed"], input=sql, capture_output=True, text=True, check=True)
    return re.sub(r"\bPIE_[A-Z_]+\b", "0", done.stdout)


def differences(page, schema):
    written = documented(page)
    for view, columns in sorted(in_schema(schema).items()):
        if f"`{view}`" not in page:
            yield f"{view} is not in {PAGE}"
        elif view in written and set(written[view]) | {"run"} != set(columns):
            yield f"{view} has {', '.join(columns)}"
    for view in sorted(set(re.findall(r"`(v_\w+)`", page)) - set(in_schema(schema))):
        yield f"there is no {view}"


def test_the_views_are_documented():
    names = ("time", "slices", "growth", "needless", "passes", "advice", "findings", "converged", "arguments",
             "pairs", "confirm", "memory", "traced")
    views = (f"read/views/{name}" for name in names)
    schema = expanded("".join(tree.text(f"storage/{name}.sql") for name in ("file/tables", *views)))
    assert list(differences(tree.text(PAGE), schema)) == []


def test_a_difference_is_found():
    schema = "create view v_one as select 1 as run, 2 as a, 3 as b;"
    right = "| `one` | `v_one` | a, b |\n"
    assert list(differences(right, schema)) == []
    assert list(differences(right.replace("a, b", "a"), schema))
    assert list(differences("", schema))
    assert list(differences(right + "| | `v_two` | a |\n", schema))
