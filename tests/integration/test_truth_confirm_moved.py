# SPDX-License-Identifier: Apache-2.0
"""pieprof confirm: a program that is not where it was when it was profiled."""

from helpers import line_of
from test_truth_confirm import REPEATED, counted, counts, findings, prepared  # noqa: F401  (a fixture)

MOVABLE = """
    import math
    for i in range(5000):
        math.cos(1)  # here
"""


@counts
def test_a_program_that_was_copied_elsewhere_is_told_by_one_line(prepared, tmp_path):
    """Another file of the same text runs: no call of the file that was profiled can be met."""
    made = prepared(MOVABLE, {"here": REPEATED})
    copy = tmp_path / "moved" / "program.py"
    copy.parent.mkdir()
    copy.write_text(made.program.read_text())
    done = made.confirm("--", copy)
    assert done.returncode == 0 and "met there" not in done.stderr and "confirmed" not in done.stderr
    [told] = [line for line in done.stderr.splitlines() if "nothing of" in line]
    assert f"nothing of {made.program}, in which findings are, was run" in told
    assert "moved or renamed, profile it again where it is now" in told
    assert counted(made.db) == {} and findings(made.db)[line_of(made.program, "here")]["verdict"] is None


@counts
def test_a_link_to_a_program_is_the_program(prepared, tmp_path):
    made = prepared(MOVABLE, {"here": REPEATED})
    (tmp_path / "link").mkdir()
    (tmp_path / "link" / "program.py").symlink_to(made.program)
    done = made.confirm("--", tmp_path / "link" / "program.py")
    assert "nothing of" not in done.stderr and findings(made.db)[line_of(made.program, "here")]["verdict"] == "confirmed"


def test_a_program_that_was_renamed_is_told_by_one_line(prepared, tmp_path):
    made = prepared(MOVABLE, {"here": REPEATED})
    renamed = made.program.rename(tmp_path / "renamed.py")
    done = made.confirm("--", renamed)
    assert done.returncode != 0 and done.stderr.count("\n") == 1
    assert f"{made.program}, in which the findings are: No such file or directory; put it back, or profile" in done.stderr
