# SPDX-License-Identifier: Apache-2.0
"""Why lines wait: each reason where it is known, for as long as it lasted."""

import pytest

from helpers import TRUTH, line_of, total

CAUSES, GARBAGE = TRUTH / "waiting_causes.py", TRUTH / "collections_of_garbage.py"
# Before a thread is looked at for the first time nobody knows where it is; a look comes every 20 ms.
SLACK_S = 0.05
LOOK_S = 0.02


def reasons(profile, mark):
    """The rows of the line with this mark, by cause."""
    found = {}
    for row in profile.query("top 1000 wait causes"):
        if row["file"] == str(CAUSES) and row["line"] == line_of(CAUSES, mark):
            found.setdefault(row["cause"], []).append(row)
    return found


def check_time(profile, mark, waited_s, thread=None):
    """Within 5 %, but for what is counted. On a busy machine a thread is looked at late, and then has waited nowhere.
    It waits for a processor when it is woken. A thread that does nothing else also waits to begin."""
    (of,) = profile.sql(
        "SELECT t.wait_ns / 1e9 AS all_s, (t.runnable_ns + t.throttled_ns) / 1e9 AS delay_s,"
        " (t.wait_ns - (SELECT sum(wait_ns) FROM sample s WHERE s.process = t.process AND s.thread = t.id)) / 1e9"
        f" AS nowhere_s FROM thread t WHERE t.name = '{thread or mark}'")
    truth_s = profile.truth["waited"][mark]
    begin_s = max(0, of["all_s"] - truth_s) if thread is None else 0
    assert 0.95 * truth_s - of["nowhere_s"] - of["delay_s"] <= waited_s <= 1.05 * truth_s + LOOK_S + begin_s, (
        mark, truth_s, waited_s, of)


def longest(profile, mark):
    return max((row for rows in reasons(profile, mark).values() for row in rows), key=lambda row: row["wait_s"])


def check_sums(profile):
    """What was waited is what was waited for a reason, in each context."""
    differing = profile.sql(
        "SELECT s.thread, s.node, s.wait_ns, w.wait_ns AS reasons_ns"
        " FROM (SELECT process, thread, node, sum(wait_ns) AS wait_ns FROM sample GROUP BY 1, 2, 3) s LEFT JOIN (SELECT process, thread, node, sum(wait_ns) AS wait_ns FROM wait"
        " GROUP BY 1, 2, 3) w ON w.process = s.process AND w.thread = s.thread AND w.node = s.node"
        " WHERE s.wait_ns <> coalesce(w.wait_ns, 0)")
    assert differing == []
    waited = {r["line"]: r["wait_s"] for r in profile.query("top 1000 waiting") if r["file"] == str(CAUSES)}
    told = {}
    for row in profile.query("top 1000 wait causes"):
        if row["file"] == str(CAUSES):
            told[row["line"]] = told.get(row["line"], 0) + row["wait_s"]
    assert {line: seconds for line, seconds in told.items() if line in waited} == pytest.approx(waited)


def test_each_reason_has_its_time(profiled):
    profile = profiled(CAUSES, "waits")
    truth, resources = profile.truth["waited"], profile.truth["resources"]
    expected = {"sleep": "sleep", "set-of-none": "sleep", "pipe": "pipe", "set-of-one": "pipe",
                "set-of-two": "poll", "recv": "socket", "accept": "socket", "child": "child", "lock": "lock", "rlock": "lock", "flock": "lock",
                "fifo": "file", "signal": "signal"}
    assert set(truth) == set(expected)
    for mark, cause in expected.items():
        rows = reasons(profile, mark)
        check_time(profile, mark, total(rows.get(cause, []), "wait_s"))
        row = longest(profile, mark)
        assert row["resource"] == resources.get(mark), mark
        assert total((r for rs in rows.values() for r in rs if r["holds_gil"]), "wait_s") <= SLACK_S, mark
    check_sums(profile)
    for mark, function in {"lock": "clockwork", "rlock": "holder"}.items():
        row = longest(profile, mark)
        assert (row["holder_file"], row["holder_line"], row["holder_function"]) == (
            str(CAUSES), line_of(CAUSES, f"{mark}-holder"), function)


def test_two_busy_threads_want_the_gil_from_each_other(profiled):
    """Each runs for half of the time, 50 ms in turn, so that no look comes as one wakes the other."""
    profile = profiled(CAUSES, "gil")
    threads = [t for t in profile.query("threads") if "spin" in t["name"]]
    rows = [r for r in profile.query("top 1000 wait causes") if r["function"] == "spin"]
    assert len(threads) == 2
    wanted = total((r for r in rows if r["cause"] == "gil"), "wait_s")
    waited = total(threads, "wait_s")  # with what was before the first looks
    assert 0.95 * waited - 2 * LOOK_S <= wanted <= waited
    known = total((r for r in rows if r["holder_function"] == "spin"), "wait_s")
    assert 0.9 * wanted <= known <= wanted
    check_sums(profile)


def test_a_call_that_waits_with_the_gil_is_told(profiled):
    profile = profiled(CAUSES, "held")
    row = longest(profile, "held")
    assert (row["cause"], row["holds_gil"]) == ("sleep", 1)
    check_time(profile, "held", row["wait_s"], "MainThread")
    victims = [r for r in profile.query("top 1000 wait causes") if r["function"] == "spin" and r["cause"] == "gil"]
    blamed = total((r for r in victims if r["holder_line"] == line_of(CAUSES, "held")), "wait_s")
    # it wakes each 5 ms, for which it may have to wait for a processor
    (thread,) = [t for t in profile.query("threads") if "spin" in t["name"]]
    assert 0.9 * row["wait_s"] - SLACK_S - thread["runnable_s"] <= blamed <= row["wait_s"] + SLACK_S, victims
    check_sums(profile)


def test_causes_in_the_course_of_time(profiled):
    """In the first second the line only waits for a pipe, in the third only for a socket."""
    profile = profiled(CAUSES, "course")
    (process,) = profile.sql("SELECT started_ns / 1e9 AS begun FROM process")
    for period, low_s, high_s in ("", 0, 99), ("in slice 1", 0, 1), ("in slice 2", 1, 2), ("in slice 3", 2, 3):
        lasted = {cause: min(end - process["begun"], high_s) - max(begin - process["begun"], low_s)
                  for cause, (begin, end) in profile.truth["waited"].items()}
        truth = {cause: s for cause, s in lasted.items() if s > 0}
        found = {}
        for row in profile.query(f"top 1000 wait causes {period}"):
            if row["file"] == str(CAUSES) and row["line"] == line_of(CAUSES, "take") and row["wait_s"] > 1e-6:
                found[row["cause"]] = found.get(row["cause"], 0) + row["wait_s"]
        # on a busy machine a slice is written late
        assert found == {cause: pytest.approx(s, rel=0.05, abs=2 * SLACK_S) for cause, s in truth.items()}, period
    check_sums(profile)


def test_who_forks_waits_for_no_lock(profiled):
    profile = profiled(CAUSES, "forks")
    own = [r for r in profile.query("top 1000 wait causes") if r["file"] == str(CAUSES)]
    assert {r["cause"] for r in own} <= {"child", "other"} and not any(r["holds_gil"] for r in own)
    assert all((r["resource"] == "pieprof") == (r["cause"] == "other") for r in own)
    waited = {r["line"] for r in own if r["resource"] == "pieprof"}
    assert waited <= {line_of(CAUSES, "fork"), line_of(CAUSES, "exit")} and waited


def test_tasks_wait_for_what_they_await(profiled):
    profile = profiled(CAUSES, "tasks")
    own = {}
    for row in profile.query("top 1000 wait causes"):
        place = row["line"] if row["file"] == str(CAUSES) else row["user_line"]
        own.setdefault(place, {}).setdefault(row["cause"], []).append(row["wait_s"])
    tasks = {"task-sleep": "sleep", "task-queue": "lock", "task-socket": "poll"}
    assert {mark: set(own[line_of(CAUSES, mark)]) for mark in tasks} == {mark: {cause} for mark, cause in tasks.items()}
    seconds = {mark: sum(own[line_of(CAUSES, mark)][cause]) for mark, cause in tasks.items()}
    assert sum(seconds.values()) <= 1.05 + SLACK_S
    assert list(seconds.values()) == pytest.approx(3 * [sum(seconds.values()) / 3], abs=SLACK_S)
    check_sums(profile)


def test_collections_of_garbage_are_at_the_line_that_was_at_work(profiled):
    profile = profiled(GARBAGE, 0.6)
    rows = {r["line"]: r for r in profile.query("garbage collection") if r["file"] == str(GARBAGE)}
    found = {line: r["gc_s"] for line, r in rows.items()}
    for mark, seconds in profile.truth["spent"].items():
        # the program's clock counts the clock's signals too, but hardly one of the other hooks
        low_s, high_s = 0.9 * profile.program_share * seconds - 0.03, 1.1 * seconds + 0.03
        assert low_s <= found[line_of(GARBAGE, mark)] <= high_s, mark
    # gc.collect() collects the oldest generation; a line that allocates has collections of each.
    for mark, generations in profile.truth["generations"].items():
        row = rows[line_of(GARBAGE, mark)]
        assert row["gc_0_s"] + row["gc_1_s"] + row["gc_2_s"] == pytest.approx(row["gc_s"], abs=0.02), row
        for generation, seconds in enumerate(generations):
            low_s, high_s = 0.85 * profile.program_share * seconds - 0.03, 1.15 * seconds + 0.03
            assert low_s <= row[f"gc_{generation}_s"] <= high_s, (mark, generation, seconds, row)
