# SPDX-License-Identifier: Apache-2.0
"""Tables of the engine that are full: what has no room has a name of its own, and is neither lost nor the caller's."""

import resource

import helpers

PROGRAM = helpers.ROOT / "tests" / "integration" / "defects" / "new_code.py"
FULL = "(table full)"


def cpu_by_function(profile):
    times = {}
    for sample in profile.samples():
        if python := [frame for frame in sample.frames if frame.is_python]:
            times[python[-1].function] = times.get(python[-1].function, 0) + sample.cpu_s
    return times


def counters(profile):
    rows = profile.sql("select name, sum(value) as value from counter group by name")
    return {row["name"]: row["value"] for row in rows}


def little_room():
    resource.setrlimit(resource.RLIMIT_AS, (300 << 20, 300 << 20))


def test_what_has_no_room_has_its_own_name(profiled):
    """1/8 of the limit is for all tables together: 150 chains of 400 functions fill them."""
    options = ["--no-memory", "--no-redundancy"]
    profile = profiled(PROGRAM, 150, 400, options=options, preexec_fn=little_room)
    times, counted = cpu_by_function(profile), counters(profile)
    assert counted.get("code_registry_full", 0) + counted.get("cct_full", 0) > 100, counted
    late_s = profile.truth["late_s"]
    assert times.get("late", 0) + times.get(FULL, 0) >= 0.95 * late_s * profile.program_share, times
    assert times.get("late_caller", 0) <= 0.05 * late_s, times


def test_more_than_65536_contents_are_distinguished(profiled):
    """Each content is one record, however many there are: no location twice. Only fixed rates meet that many in this
    time."""
    profile = profiled(PROGRAM, 70, 1000, options=["--no-memory", "--no-redundancy", "--overhead", "0"])
    places = profile.sql("select f.path, u.name, l.line, count(*) as n from file f join function u on u.process = f.process "
                         "and u.file = f.id join location l on l.process = u.process and l.function = u.id "
                         "where f.path glob '<chain *' or f.path = '<late>' group by 1, 2, 3")
    assert len(places) > 65536
    assert [place for place in places if place["n"] > 1] == []
    assert helpers.total(profile.functions("<late>"), "cpu_s") >= 0.95 * profile.truth["late_s"] * profile.program_share
    assert FULL not in cpu_by_function(profile)
