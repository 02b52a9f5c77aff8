# SPDX-License-Identifier: Apache-2.0
"""The programs of bench/detection: three sets without a common name, and marks that agree with each program's head."""
import sys

import pytest
import tree

sys.path.insert(0, str(tree.ROOT / "bench" / "detection"))
import catalogue

CLEAN = '"""Sums."""\n'
WASTEFUL = '"""Sums."""\nCATEGORY = "API misuse"\nKIND = "load"\nx = 1  # waste: load\n'


@pytest.mark.parametrize("name", catalogue.SETS)
def test_a_set_is_sound(name):
    programs = catalogue.programs(chosen=name)
    assert {program.is_clean for program in programs} == {False, True}
    assert len(programs) == len({program.name for program in programs})


@pytest.mark.parametrize("name", set(catalogue.SETS) - {"tuned"})
def test_only_chooses_within_one_set(name):
    first = catalogue.programs(chosen=name)[0].name
    assert [program.name for program in catalogue.programs([first], name)] == [first]
    with pytest.raises(ValueError, match="no such program in the set tuned"):
        catalogue.programs([first])


@pytest.mark.parametrize("other", ("tuned", "unseen"))
def test_a_name_in_two_sets_is_found(tmp_path, other):
    sets = {name: tmp_path / name for name in catalogue.SETS}
    for name, folder in sets.items():
        folder.mkdir()
        (folder / "harness.py").write_text(CLEAN)
        (folder / f"clean_{name}.py").write_text(CLEAN)
    catalogue.check_names(sets)
    (sets["apart"] / f"clean_{other}.py").write_text(CLEAN)
    with pytest.raises(ValueError, match=f"in two sets: clean_{other}$"):
        catalogue.check_names(sets)


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
