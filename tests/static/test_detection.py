# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/detection: two halves without a common name, and marks that agree with each program's head."""
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "bench" / "detection"))
import catalogue

CLEAN = '"""Sums."""\n'
WASTEFUL = '"""Sums."""\nCATEGORY = "API misuse"\nKIND = "load"\nx = 1  # waste: load\n'


def test_both_halves_are_sound():
    halves = {half: {program.name for program in catalogue.programs(half=half)} for half in catalogue.HALVES}
    assert all(halves.values())
    assert not halves["tuned"] & halves["unseen"]


def test_only_chooses_within_one_half():
    first = catalogue.programs(half="unseen")[0].name
    assert [program.name for program in catalogue.programs([first], "unseen")] == [first]
    with pytest.raises(ValueError, match="no such program in the tuned half"):
        catalogue.programs([first])


def test_a_name_in_both_halves_is_found(tmp_path):
    halves = {name: tmp_path / name for name in catalogue.HALVES}
    for folder in halves.values():
        folder.mkdir()
        (folder / "harness.py").write_text(CLEAN)
    (halves["tuned"] / "clean_sum.py").write_text(CLEAN)
    (halves["unseen"] / "clean_product.py").write_text(CLEAN)
    catalogue.check_names(halves)
    (halves["unseen"] / "clean_sum.py").write_text(CLEAN)
    with pytest.raises(ValueError, match="in both halves: clean_sum$"):
        catalogue.check_names(halves)


@pytest.mark.parametrize("text", [
    WASTEFUL.replace("API misuse", "another"),
    WASTEFUL.replace('KIND = "load"', 'KIND = "store"'),
    WASTEFUL.replace("  # waste: load", ""),
    CLEAN + "x = 1  # waste: load\n",
])
def test_a_program_whose_marks_do_not_agree_is_found(tmp_path, text):
    path = tmp_path / "program.py"
    for sound in (CLEAN, WASTEFUL):
        path.write_text(sound)
        catalogue.read(path)
    path.write_text(text)
    with pytest.raises(ValueError, match="do not agree"):
        catalogue.read(path)
