# SPDX-License-Identifier: Apache-2.0
"""What fixes of several lines save together, as the summary and the page have it: time that lines share counts once."""

import pathlib

STATEMENT = pathlib.Path(__file__).resolve().parents[2] / "storage" / "read" / "statements" / "shared_waste.sql"
COLUMNS = ("file", "line", "cpu_s", "wasted_s", "wasted_s_low", "wasted_s_high")


def value(of):
    return "'" + of.replace("'", "''") + "'" if isinstance(of, str) else repr(of or 0)


def question(lines, wanted):
    """SQL that asks for `wanted` of these findings, each of another line of own code."""
    values = ", ".join(f"({rank}, {', '.join(value(one.get(name)) for name in COLUMNS)})" for rank, one in enumerate(lines, 1))
    return (f"WITH wasteful(rank, {', '.join(COLUMNS)}) AS MATERIALIZED (VALUES {values}),\n"
            f"{STATEMENT.read_text(encoding='utf-8')}\n{wanted}")


class Contexts:
    """Of one profile; `query` runs SQL on it."""

    def __init__(self, query):
        self.query = query

    def once(self, lines):
        """The parts of the run's CPU time that findings of several lines waste together: the waste, and the ends of its
        interval."""
        (row,) = self.query(question(lines, "SELECT * FROM wasted_together"))
        return tuple(row[name] / row["run_s"] for name in ("all_s", "all_s_low", "all_s_high"))
