# SPDX-License-Identifier: Apache-2.0
"""What a profile's findings are worth, held against what the program's source says."""

import collections
import dataclasses
import os
import statistics

FIRST = 5

# Categories with the same advice: one call for many, keep the result. Naming the other one of the two still leads to
# the fix, so it is defensible.
ALIKE = (
    {"slice underutilization", "API misuse"},
    {"repeated native calls", "loop-invariant computation"},
)


@dataclasses.dataclass
class Verdict:
    """Of one profile of one program."""

    rank: int | None = None  # of the best finding at a true line, from 1
    finding: dict | None = None  # that one: of a true line itself, or of library code that it led to
    is_category_right: bool = False
    is_category_defensible: bool = False  # right, or one with the same advice
    is_kind_right: bool = False
    wasted_share: float = 0.0  # of all true lines
    wasted_interval: tuple = (0.0, 0.0)  # its ends, added up over the lines
    proof: str | None = None  # what a second run said of the true line: confirmed, refuted, undecided
    bound_share: float | None = None  # what a fix can gain at most, by the second run
    facts: str | None = None  # what it counted there
    slowdown: float | None = None  # CPU time of the second run; 1: as without it
    proven_high: int = 0  # findings that are high after it
    path_share: float = 0.0  # of the high findings that name it, at a true line or on its call path
    severities: collections.Counter = dataclasses.field(default_factory=collections.Counter)
    top: list = dataclasses.field(default_factory=list)  # the first findings, one line of text each

    @property
    def is_found(self):
        return self.rank is not None and self.rank <= FIRST

    @property
    def estimate(self):
        """How many times faster the run would be without the waste."""
        return 1.0 / (1.0 - min(self.wasted_share, 0.999))

    @property
    def is_high(self):
        return self.finding is not None and self.finding["severity"] == "high"

    def essence(self):
        """What must be the same when the program is profiled again."""
        if self.finding is None:
            return ("none", self.severities["high"] > 0)
        return (self.is_found, self.finding["category"], self.finding["severity"])


def at_true_line(program, finding):
    """The true line that the finding is about: by itself, as the line that led there, or of a call that does all again
    (no single accesses tell of that) as the line below it in which most of it happens. None: another line."""
    places = [("file", "line"), ("user_file", "user_line")]
    if finding.get("traps") is None:
        places.append(("first_file", "first_line"))
    for file, line in places:
        path = finding.get(file)
        if path and os.path.basename(path) == program.path.name and finding.get(line) in program.lines:
            return finding[line]
    return None


def is_own(program, finding):
    return os.path.basename(finding["file"] or "") == program.path.name


def shares(finding):
    """Of the run's CPU time: the waste, and the ends of its interval."""
    wasted_s, wasted_share = finding["wasted_s"] or 0.0, finding["wasted_share"] or 0.0
    per_s = wasted_share / wasted_s if wasted_s else 0.0
    return wasted_share, (finding["wasted_s_low"] or 0.0) * per_s, (finding["wasted_s_high"] or 0.0) * per_s


def wasted(program, findings, contexts=None):
    """shares() of the true lines together. Loads and stores of a line are two views of the same time: the larger
    counts. A library's line is part of the line that led there, and so is a line below a call that does all again.
    contexts: of the profile (contexts.py). With them, time that lines share counts once."""
    of_line = {}
    for finding in findings:
        line = finding["line"]
        is_below = finding.get("user_line") != line and finding.get("user_line") in program.lines
        if line in program.lines and is_own(program, finding) and not is_below:
            of_line[line] = max(of_line.get(line, finding), finding, key=lambda one: (shares(one), one.get("cpu_s") or 0.0))
    if contexts and len(of_line) > 1:
        return contexts.once(list(of_line.values()))
    return tuple(map(sum, zip(*map(shares, of_line.values())))) or (0.0, 0.0, 0.0)


def saved_share(gain):
    """The part of the whole run's CPU time that the fix saves."""
    return 1.0 - 1.0 / gain


def told_to_true(verdict, gain):
    """The waste that was told as a part of what the fix saves; None: the fix was not measured."""
    return verdict.wasted_share / saved_share(gain) if gain and gain > 1.0 else None


def is_inside(verdict, gain):
    low, high = verdict.wasted_interval
    return low <= saved_share(gain) <= high


def is_bound_kept(verdict, gain):
    """Is the bound of confirm above what the fix saves? A hundredth of the run is allowed for the noise of both."""
    return verdict.bound_share is not None and verdict.bound_share >= saved_share(gain) - 0.01


def path_share(program, findings, contexts):
    """What high findings say together, of those that name a defensible category at a true line, or at a line of the
    program that calls one or is called by one. Who looks there finds the waste, if the figure is right too."""
    true, of_line = {(program.path.name, line) for line in program.lines}, {}
    for finding in findings:
        place = (program.path.name, finding["line"])
        if (finding["severity"] == "high" and is_own(program, finding) and are_alike(finding["category"], program.category)
                and (at_true_line(program, finding) or contexts.are_of_one_path(place, true))):  # fmt: skip
            of_line[place] = max(of_line.get(place, finding), finding, key=shares)
    if len(of_line) > 1:
        return contexts.once(list(of_line.values()))[0]
    return sum(shares(finding)[0] for finding in of_line.values())


def is_named(verdict, gain):
    """Is the waste named there with a figure of half to twice what the fix saves?"""
    return 0.5 <= verdict.path_share / saved_share(gain) <= 2.0


def in_words(finding):
    place = f"{os.path.basename(finding['file'] or '?')}:{finding['line']}"
    share = 100.0 * (finding["wasted_share"] or 0.0)
    fraction = finding["redundant_fraction"]
    part = "" if fraction is None else f", {fraction:.2f} redundant"
    return f"{finding['rank']}. {place} {finding['kind']} {finding['category']} {finding['severity']} {share:.0f} %{part}"


def are_alike(category, other):
    return category == other or any({category, other} <= alike for alike in ALIKE)


def bound(program, findings):
    """What a second run says of the true lines: the verdict and the fact of the first, and the part of the run that a
    fix gains at most (None: no bound for one of them). That is said of a fix within the function of a line, and the
    fix of a program may change several."""
    counted = [finding for finding in findings if finding.get("verdict") and is_own(program, finding)]
    there = [finding for finding in counted if at_true_line(program, finding)]
    if program.is_clean and counted:
        return counted[0]["verdict"], counted[0].get("facts"), None
    if not there:
        return None, None, None
    per_s = max((shares(finding)[0] / finding["wasted_s"] for finding in findings if finding["wasted_s"]), default=0.0)
    most_s = {finding["function"]: finding["gain_most_s"] for finding in there}
    is_bounded = all(most_s.values())  # else a fix at one of the lines may gain all of the run
    most = min(1.0, per_s * sum(most_s.values())) if is_bounded else None
    return there[0]["verdict"], there[0].get("facts"), most


def judge(program, findings, contexts=None):
    verdict = Verdict(severities=collections.Counter(finding["severity"] for finding in findings))
    verdict.top = [in_words(finding) for finding in findings[:FIRST]]
    verdict.proof, verdict.facts, verdict.bound_share = bound(program, findings)
    if program.is_clean:
        return verdict
    placed = [(place, finding) for place, finding in enumerate(findings, 1) if at_true_line(program, finding)]
    if placed:
        verdict.rank, verdict.finding = placed[0]
        verdict.is_category_right = verdict.finding["category"] == program.category
        verdict.is_category_defensible = are_alike(verdict.finding["category"], program.category)
        verdict.is_kind_right = verdict.finding["kind"] == program.kind
    verdict.wasted_share, *ends = wasted(program, findings, contexts)
    verdict.wasted_interval = tuple(ends)
    if contexts:
        verdict.path_share = path_share(program, findings, contexts)
    return verdict


def agreement(verdicts):
    """The share of verdicts on one program that say what most of them say."""
    most = collections.Counter(verdict.essence() for verdict in verdicts).most_common(1)[0][1]
    return most / len(verdicts)


def middle(verdicts):
    """The verdict to show of several: the one with the middle rank."""
    ordered = sorted(verdicts, key=lambda verdict: verdict.rank or 10**6)
    return ordered[(len(ordered) - 1) // 2]


def median(values):
    values = [value for value in values if value is not None]
    return statistics.median(values) if values else None
