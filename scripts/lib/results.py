# SPDX-License-Identifier: Apache-2.0
"""What came of the tests: test cases out of meson's log, and their sum."""
import json
import re
from dataclasses import dataclass, field

TAP_LINE = re.compile(
    r"^(ok|not ok)\b[ \t]*(?:\d+)?[ \t]*-?[ \t]*([^#\n]*)(?:#[ \t]*(SKIP|TODO)\S*[ \t]*([^\n]*))?", re.M | re.I
)
TAP_PLAN = re.compile(r"^1\.\.(\d+)(?:[ \t]*#[ \t]*SKIP\S*[ \t]*([^\n]*))?", re.M | re.I)
PASSED_LINE = re.compile(r"ok\b")
PYTEST_FAILURES = re.compile(r"=+ (FAILURES|ERRORS) =+$")


@dataclass
class Case:
    name: str
    verdict: str  # "passed", "failed" or "skipped"
    note: str = ""


@dataclass
class Result:
    """One entry of meson's log: a program with its test cases."""

    name: str
    seconds: float
    cases: list = field(default_factory=list)
    output: str = ""

    def count(self, verdict):
        return sum(case.verdict == verdict for case in self.cases)

    def told(self, at_most):
        """Lines of output about what failed: without the cases that passed, and from pytest's report of the failures
        on."""
        lines = [line for line in self.output.strip().splitlines() if not PASSED_LINE.match(line)]
        start = next((at for at, line in enumerate(lines) if PYTEST_FAILURES.match(line)), None)
        return lines[-at_most:] if start is None else lines[start : start + at_most]


def comment_before(output, at):
    """What a test said on the line before its verdict."""
    lines = output[:at].splitlines()
    return lines[-1].lstrip("# ") if lines and lines[-1].startswith("#") else "no reason given"


def tap_cases(output):
    for line in TAP_LINE.finditer(output):
        verdict, name, directive, note = (group or "" for group in line.groups())
        if directive.upper() == "SKIP":
            # cmocka writes "not ok 5 # SKIP test_name" and has no reason: the test says it in a comment before.
            reason = (name.strip() and note.strip()) or comment_before(output, line.start())
            yield Case(name.strip() or note.strip(), "skipped", reason)
        elif directive.upper() == "TODO":
            yield Case(name.strip(), "skipped", "known failure: " + note.strip())
        else:
            yield Case(name.strip(), "passed" if verdict.lower() == "ok" else "failed")


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no reason given"


def from_meson(entry):
    """The result of one line of testlog.json."""
    output = entry.get("stdout") or ""
    result = Result(entry["name"], entry["duration"], output=output + (entry.get("stderr") or ""))
    verdict = {"OK": "passed", "EXPECTEDFAIL": "passed", "SKIP": "skipped"}.get(entry["result"], "failed")
    plan = TAP_PLAN.search(output)
    if plan and int(plan[1]) == 0:
        result.cases = [Case("", "skipped", plan[2] or "no reason given")]
    else:
        result.cases = list(tap_cases(output)) if plan or verdict == "failed" else []
    if not result.cases:
        result.cases = [Case("", verdict, last_line(output) if verdict == "skipped" else "")]
    elif verdict == "failed" and not result.count("failed") and not is_complete(entry, plan, result):
        result.cases.append(Case("(as a whole)", "failed", entry["result"].lower()))
    return result


def is_complete(entry, plan, result):
    """Did the program say all that it planned and end well? Then only meson dislikes cmocka's way to skip."""
    skipped = re.search(r"^not ok\b[^\n]*# *SKIP", result.output, re.M | re.I)
    return bool(skipped) and plan and int(plan[1]) == len(result.cases) and entry.get("returncode") == 0


def read_lines(lines):
    """The results of whole lines of meson's testlog.json."""
    return [from_meson(json.loads(line)) for line in lines if line.strip()]


def summary(results):
    count = {verdict: sum(r.count(verdict) for r in results) for verdict in ("passed", "failed", "skipped")}
    return "{passed} passed, {failed} failed, {skipped} skipped".format(**count)
