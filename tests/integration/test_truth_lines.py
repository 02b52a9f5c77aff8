# SPDX-License-Identifier: Apache-2.0
"""Time by line: the top frame of a sample stands on the right statement."""

import pytest

from helpers import FIXED_RATES, TRUTH


def test_six_statements(profiled, tmp_path):
    generated = tmp_path / "generated.py"
    profile = profiled(TRUTH / "six_statements.py", 4, generated, options=FIXED_RATES)
    truth = profile.truth
    inside = range(truth["first_line"], truth["last_line"] + 1)
    rows = {r["line"]: r for r in profile.lines(generated) if r["line"] in inside}
    together = sum(r["cpu_s"] for r in rows.values())
    assert together == pytest.approx(4 * profile.program_share, rel=0.05)
    found = {line: rows[int(line)]["cpu_s"] / together for line in truth["shares"] if int(line) in rows}
    for line, share in truth["shares"].items():
        assert found.get(line, 0) == pytest.approx(share, abs=0.03), (line, found)
    assert {r["function"] for r in rows.values()} == {"six"}


def test_source_text_is_in_the_file(profiled, tmp_path):
    generated = tmp_path / "generated.py"
    profile = profiled(TRUTH / "six_statements.py", 0.3, generated)
    kept = {r["line"]: r["text"] for r in profile.sql(f"select line, text from v_source where file = '{generated}'")}
    text = generated.read_text().splitlines()
    profiled_lines = {r["line"] for r in profile.lines(generated)}
    assert profiled_lines and profiled_lines <= set(kept)
    assert all(text[line - 1] == kept[line] for line in kept)
