# SPDX-License-Identifier: Apache-2.0
"""`pieprof doctor` as people and programs meet it."""

import json
import os
import subprocess

import pytest

PIEPROF = os.environ["PIEPROF"]
REFUSE = os.environ["REFUSE"]
SAMPLERS = ["none", "taskclock", "pmu"]
CLOCKS = ["none", "itimer", "timer", "perf-user", "perf"]


def run(*argv, **environment):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PIEPROF", "PYTHON"))}
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, env={**kept, **environment})


def findings(*before):
    done = run(*before, PIEPROF, "doctor", "--json")
    if done.returncode == 77:
        pytest.skip(done.stderr)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert done.returncode == (0 if found["time_profile"] else 1)
    return found, {probe["id"]: probe for probe in found["probes"]}


def test_json_contract():
    found, probes = findings()
    assert set(found) == {"schema", "pieprof", "time_profile", "clock", "redundancy", "sampler", "probes"}
    assert found["schema"] == 1
    assert found["clock"] in CLOCKS
    assert found["sampler"] in SAMPLERS
    assert found["redundancy"] == (found["sampler"] != "none")
    assert len(probes) == len(found["probes"]) >= 20
    for probe in found["probes"]:
        assert list(probe) == ["id", "name", "status", "detail", "cost", "remedy"]
        assert probe["status"] in ("ok", "degraded", "missing")
        assert (probe["cost"] is None) == (probe["status"] == "ok")
        assert probe["detail"]
    assert probes["clock"]["detail"].startswith(found["clock"])
    assert probes["accesses"]["detail"].startswith(found["sampler"])
    assert probes["libpython"]["detail"].split(",")[0] in ("static", "shared")
    assert probes["kernel"]["detail"] == "Linux " + os.uname().release


def test_text_says_the_same():
    found, probes = findings()
    done = run(PIEPROF, "doctor")
    assert done.stderr == ""
    assert done.returncode == (0 if found["time_profile"] else 1)
    for probe in probes.values():
        assert probe["name"] in done.stdout
        assert probe["detail"] in done.stdout
        gap = f"{probe['name']}: {probe['status']}\n"
        assert (gap in done.stdout) == (probe["status"] != "ok")
        if probe["cost"]:
            # Broken into lines where they end.
            assert probe["cost"] in " ".join(done.stdout.split())
    assert found["clock"] in done.stdout.splitlines()[-2]
    assert (f'"{found["sampler"]}"' if found["redundancy"] else "cannot be watched") in done.stdout.splitlines()[-1]


def test_narrow_terminals_lose_nothing():
    _, probes = findings()
    done = run(PIEPROF, "doctor", COLUMNS="60")
    words = " ".join(done.stdout.split())
    for probe in probes.values():
        if probe["status"] != "ok":
            assert probe["detail"] in words
            assert probe["cost"] in words
            assert (probe["remedy"] or "") in words
    table = done.stdout.split("\n\n")[0]
    assert max(map(len, table.splitlines())) <= 60


def test_perf_refused():
    found, probes = findings(REFUSE, "perf_event_open", "--")
    assert found["clock"] == "timer"
    assert found["time_profile"] is True
    assert probes["perf_user"]["status"] == "missing"
    assert probes["clock"]["status"] == "degraded"
    assert "perf_event_open is refused" in probes["clock"]["detail"]
    assert "seccomp" in probes["clock"]["remedy"] or "paranoid" in probes["clock"]["remedy"]
    assert probes["seccomp"]["detail"] == "filters system calls"
    assert probes["data_breakpoints"]["status"] == "missing"
    assert found["sampler"] == "none"
    assert probes["accesses"]["status"] == "missing"
    assert "breakpoints are refused" in probes["accesses"]["detail"]
    assert "--cap-add PERFMON" in probes["accesses"]["remedy"]


def test_timers_refused():
    found, probes = findings(REFUSE, "perf_event_open", "timer_create", "--")
    assert found["clock"] == "itimer"
    assert probes["thread_timers"]["status"] == "missing"


def test_nothing_is_left():
    found, probes = findings(REFUSE, "perf_event_open", "timer_create", "getitimer", "--")
    assert found["clock"] == "none"
    assert found["time_profile"] is False
    assert probes["clock"]["status"] == "missing"
    done = run(REFUSE, "perf_event_open", "timer_create", "getitimer", "--", PIEPROF, "doctor")
    assert done.returncode == 1
    assert "cannot be profiled" in done.stdout


@pytest.mark.parametrize("words", [["--jason"], ["now"], ["--json", "x"]])
def test_bad_words(words):
    done = run(PIEPROF, "doctor", *words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("pieprof: ")
    assert len(done.stderr.splitlines()) == 1


def test_full_disk():
    with open("/dev/full", "w") as full:
        done = subprocess.run([PIEPROF, "doctor"], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60)
    assert done.returncode == 1
    assert "No space left" in done.stderr


def test_the_engine_agrees(tmp_path):
    """The clock and the sampler that doctor names are those that a run takes."""
    for refused in ([], [REFUSE, "perf_event_open", "--"]):
        found, probes = findings(*refused)
        db = tmp_path / f"{len(refused)}.db"
        done = run(*refused, PIEPROF, "-q", "-o", str(db), "-c", "sum(range(3000000))")
        assert done.returncode == 0, done.stderr
        done = run(PIEPROF, "query", str(db), "select clock, sampler, sampler_note from process", "--json")
        [row] = json.loads(done.stdout)["rows"]
        assert (row["clock"], row["sampler"]) == (found["clock"], found["sampler"])
        problem = probes["accesses"]["detail"].partition("; ")[2]
        assert (row["sampler_note"] or "").startswith(problem)
        assert bool(row["sampler_note"]) == bool(problem)
