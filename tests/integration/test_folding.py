# SPDX-License-Identifier: Apache-2.0
"""A program that makes code without end: its profile stays small in memory and in the file, no time is lost by that,
and what is hot now has its name."""

import textwrap

import pytest

from helpers import profile, total

PROGRAM = textwrap.dedent("""
    import json, sys, threading, time

    def made(n):
        names = {}
        exec(compile(f"def made_{n}(x):\\n  s = 0\\n  for i in range(2000):\\n    s += i * x\\n  return s\\n", f"<made {n}>", "exec"), names)
        return names[f"made_{n}"]

    def always():
        return sum(i * i for i in range(3000))

    def sleep():
        time.sleep(seconds + 1)

    seconds, n, kept, begin = float(sys.argv[1]), 0, [], time.monotonic()
    sleeper = threading.Thread(target=sleep, name="sleeper")
    sleeper.start()
    while time.monotonic() - begin < seconds:
        made(n)(3)
        always()
        n += 1
        if n in (200, 400, 600):
            kept.append(bytearray(64 << 20))
    last, end = made("last"), time.monotonic() + 3
    while time.monotonic() < end:
        last(3)
    sleeper.join()
    print(json.dumps({"made": n, "kept_bytes": len(kept) * 64 << 20, "cpu_s": time.process_time(), "begin_s": begin}))
""")
SMALL = ("--context-memory", "64k", "--max-size", "4m")


def counters(done):
    return {row["name"]: row["value"] for row in done.sql("select name, value from counter")}


@pytest.fixture(scope="module", params=["small", "large"])
def service(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "service.py").write_text(PROGRAM)
    done = profile(folder / "s.db", folder / "service.py", 14, options=SMALL if request.param == "small" else (), timeout=180)
    return request.param, done


def test_the_tree_turns(service):
    which, done = service
    counted = counters(done)
    print(which, counted.get("context_turns"), counted.get("contexts_folded"), done.truth)
    if which == "small":
        assert counted["context_turns"] >= 2
    else:
        assert "context_turns" not in counted and "contexts_folded" not in counted
    assert counted.get("cct_full", 0) == counted.get("code_registry_full", 0) == 0


def test_no_time_is_lost(service):
    _, done = service
    samples = total(done.sql("select sum(samples) n from sample"), "n")
    assert samples == counters(done)["samples"], counters(done)
    (thread,) = done.sql("select clock_cpu_s, cpu_s from v_thread where is_main = 1")
    assert thread["cpu_s"] == pytest.approx(done.program_share * thread["clock_cpu_s"], rel=0.1)
    (dangling,) = done.sql("""
        select (select count(*) from sample s where not exists (select 1 from node n where n.process = s.process and n.id = s.node))
             + (select count(*) from node c where parent is not null
                and not exists (select 1 from node n where n.process = c.process and n.id = c.parent))
             + (select count(*) from node n where not exists (select 1 from location l where l.process = n.process
                and l.id = n.location)) n""")
    assert dangling["n"] == 0


def test_what_is_hot_has_its_name(service):
    _, done = service
    now = done.query("top 3 hot functions in the last 2 s")
    assert now[0]["function"] == "made_last"
    lines = {row["function"]: row["cpu_s"] for row in done.query("top all hot functions")}
    assert lines["always.<locals>.<genexpr>"] > sum(s for name, s in lines.items() if name == "made") > 0


def test_who_sleeps_through_it_waits_in_one_place(service):
    """The context in which a thread waits is remembered over the turns."""
    _, done = service
    rows = [row for row in done.query("top all waiting") if row["function"] == "sleep"]
    assert len(rows) == 1 and rows[0]["wait_s"] == pytest.approx(15, abs=1.5)


def test_memory_is_still_known(service):
    _, done = service
    rows = done.query("top all memory")
    line = 1 + PROGRAM.splitlines().index("        kept.append(bytearray(64 << 20))")
    (live,) = done.sql(f"""select sum(a.live_bytes) n from allocation a join node n on n.process = a.process and n.id = a.node
                           join location l on l.process = n.process and l.id = n.own_location where l.line = {line}""")
    assert live["n"] == pytest.approx(done.truth["kept_bytes"], rel=0.02)  # large blocks are each sampled
    (heap,) = done.query("heap")
    assert total(rows, "peak_bytes") == pytest.approx(heap["peak_bytes"], rel=0.15)  # of the rest some blocks are sampled
