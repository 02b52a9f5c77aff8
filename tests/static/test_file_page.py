# SPDX-License-Identifier: Apache-2.0
"""docs/file.md has each table and column of a profile, as storage/file/tables.sql has them."""
import sqlite3
import sys

import tree

sys.path.insert(0, str(tree.ROOT / "scripts/lib"))
import file_page  # noqa: E402


def columns_of(sql):
    connection = sqlite3.connect(":memory:")
    connection.executescript(sql)
    names = [name for (name,) in connection.execute("select name from sqlite_schema where type = 'table'")]
    return {name: [row[1] for row in connection.execute(f"pragma table_info({name})")] for name in names}


def test_the_page_is_what_the_tables_say():
    page = tree.text("docs/file.md")
    assert page == file_page.whole(page, tree.text("storage/file/tables.sql")), "run scripts/file-page"


def test_each_column_is_found_and_has_a_meaning():
    sql = tree.text("storage/file/tables.sql")
    found = {name: file_page.columns(body) for _, name, body in file_page.TABLE.findall(sql)}
    assert {name: [c[0] for c in columns] for name, columns in found.items()} == columns_of(sql)
    without = [f"{name}.{column[0]}" for name, columns in found.items() for column in columns
               if not file_page.meaning(column[2], column[3])]
    assert not without, "no comment at " + ", ".join(without)


def test_a_table_is_told_whole():
    sql = "-- What it is.\n-- And more.\nCREATE TABLE one (\n  a INTEGER NOT NULL DEFAULT 3, -- first\n" \
          "                                 -- line\n  b TEXT REFERENCES run,\n  PRIMARY KEY (a)\n) WITHOUT ROWID;\n"
    said = file_page.tables(sql)
    assert "What it is. And more." in said and "Key: (a)." in said
    assert "| `a` | integer | first line; 3 for rows of files that did not have it |" in said
    assert "| `b` | text, or NULL | run (id) |" in said
