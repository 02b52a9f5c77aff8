#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Does pieprof find waste whose place and kind is known?

The programs are small but real. Each wasteful one marks its true lines in its source (`# waste: load`), names its
category (PieProf 3.1) and has a fixed version that computes the same; each clean one does as much as its library can,
so nothing in it should be reported as high.

They are in three sets, and --set chooses one. Rules may be tuned on the programs of programs/, so a good result there
proves little. Those of unseen/ are run only at the end of a piece of work, those of apart/ only when all work on the
rules is done; both are reported whatever they say.

For each program, one after the other:
* `pieprof -o FILE PROGRAM`, then `pieprof query FILE "redundancy" --json`, --repeats times. A finding is at the true
  line if it names that line, or a line of a library that the true line led to (user_file, user_line). Its rank, its
  category and its severity (of the true line itself, where both are among the first five) are the verdict; repeats
  should come to the same one.
* with --confirm, `pieprof confirm` counts all calls of the suspected lines in a second run. The verdict on the true
  line and the bound of what a fix gains stand beside the fix.
* the wasteful and the fixed version without pieprof, in turns and as often. The speed-up of the fix is the median of
  the ratios of CPU time, of the work alone and of the whole process with its imports. Beside it stands what the
  findings promise: 1 / (1 - wasted_share of the true lines).

--python names the interpreter whose packages are used: /usr/bin/python3 for the system's, VENV/bin/python for a
virtual environment (make-venv makes one with current wheels). VIRTUAL_ENV names the latter to pieprof. Both must
be of the Python that pieprof was built for.

Numerical libraries get one thread each unless --threads says otherwise: the arrays are small, and threads that wait for
each other on a busy machine measure their neighbours (a product of 96 x 96 matrices took 60 times as long). Programs
generate their data, use fixed seeds, no network and no file.
"""

import argparse
import dataclasses
import datetime
import json
import pathlib
import platform
import sys
import tempfile

import catalogue
import judge
import runs
import tables

HERE = pathlib.Path(__file__).resolve().parent
MODULES = ("numpy", "scipy", "scikit-learn", "torch", "pandas", "matplotlib", "numexpr")


@dataclasses.dataclass
class Result:
    """Of one program."""

    program: catalogue.Program
    verdicts: list
    work_gain: float | None  # of the fix
    whole_gain: float | None
    overhead: float | None  # CPU time of the work under pieprof / without it


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieprof", default=HERE.parents[1] / "build" / "pieprof")
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--libraries", default="packages", help="what to call its libraries in the tables: packages, "
                        "wheels")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="of their work; 1 is 5 to 8 seconds for most, up to 60 for a few")
    parser.add_argument("--threads", type=int, default=1, help="of numerical libraries; 0 leaves it to them")
    parser.add_argument("--set", choices=catalogue.SETS, default="tuned", help="tuned: programs/; unseen: unseen/, "
                        "only at the end of a piece of work; apart: apart/, only when all work on the rules is done")
    parser.add_argument("--only", metavar="NAME", action="append", default=[], help="this program (may be repeated)")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="a sample: the first program and each N-th after it")
    parser.add_argument("--no-profile", action="store_true", help="only check and time the fixes")
    parser.add_argument("--no-fix", action="store_true", help="only profile")
    parser.add_argument("--confirm", action="store_true", help="let pieprof confirm count the calls of the first profile "
                        "of each program; counted code takes up to 50 times as long, so choose a small --scale")
    parser.add_argument("--confirm-scale", type=float, metavar="S", help="of that second run; --scale unless given")
    parser.add_argument("--confirm-limit", type=float, default=runs.LIMIT_S, metavar="S", help="seconds that it may take")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the profiles there")
    parser.add_argument("--kept", action="store_true", help="judge the profiles that are in the folder of --keep, as the "
                        "views of this pieprof have them, and profile nothing; what --confirm has counted there is not counted again, "
                        "so a run that was cut short goes on")
    parser.add_argument("--gains", metavar="FILE", help="with --no-fix: what the fixes save, from a file of --json")
    parser.add_argument("--option", action="append", default=[], help="for pieprof (may be repeated)")
    parser.add_argument("--markdown", metavar="FILE", help="also write the tables there")
    parser.add_argument("--json", metavar="FILE", help="also write all verdicts there")
    return parser.parse_args()


def ratio(pairs, key):
    return judge.median([slow[key] / fast[key] for slow, fast in pairs if fast[key] > 0.0])


def timed(runner, program, repeats):
    """[(wasteful, fixed)]; a clean program has only itself."""
    pairs = []
    for _ in range(repeats):
        slow = runner.plain(program)
        fast = slow if program.is_clean else runner.plain(program, fixed=True)
        if not runs.same(slow, fast):
            raise runs.Failure(f"{program.name} --fixed computes something else: {slow['checksum']}, {fast['checksum']}")
        pairs.append((slow, fast))
    return pairs


def profile(options, runner, program, file, pairs):
    file.unlink(missing_ok=True)
    one = runner.profiled(program, file, options.option)
    if pairs and not runs.same(one, pairs[0][0]):
        raise runs.Failure(f"{program.name} computes something else under pieprof: {one['checksum']}")
    return one


def prove(verdict, program, findings, slowdown):
    """Adds what the findings are after a second run."""
    verdict.slowdown = slowdown
    proven = judge.judge(program, findings)
    verdict.proof, verdict.bound_share = proven.proof, proven.bound_share
    verdict.proven_high, verdict.facts = proven.severities["high"], proven.facts


def measure(options, runner, program, folder):
    pairs = [] if options.no_fix else timed(runner, program, options.repeats)
    verdicts, profiled = [], []
    for number in range(0 if options.no_profile else options.repeats):
        file = folder / f"{program.name}-{options.libraries}-{number + 1}.db"
        if not options.kept:
            profiled.append(profile(options, runner, program, file, pairs))
        verdicts.append(judge.judge(program, runner.findings(file), runner.contexts(file)))
        if options.confirm and number == 0:
            scale = options.confirm_scale or options.scale
            prove(verdicts[0], program, *runner.confirmed(program, file, scale, options.confirm_limit))
        if not options.keep:
            file.unlink()
    plain, watched = (judge.median([run["cpu_s"] for run in some]) for some in ([slow for slow, _ in pairs], profiled))
    overhead = watched / plain if plain and watched else None
    gains = (None, None) if program.is_clean else (ratio(pairs, "cpu_s"), ratio(pairs, "whole_cpu_s"))
    gains = options.known_gains.get(program.name, gains)
    return Result(program, verdicts, *gains, overhead), plain


def progress(result, plain):
    words = [f"{result.program.name}:"]
    if plain:
        words.append(f"{plain:.1f} s")
    if result.work_gain:
        words.append(f"fix {result.work_gain:.2f}x, whole {result.whole_gain:.2f}x")
    if result.verdicts and not result.program.is_clean:
        verdict = judge.middle(result.verdicts)
        category = verdict.finding["category"] if verdict.finding else "nothing found"
        words.append(f"rank {tables.ranks(result.verdicts)}, {'right' if verdict.is_category_right else category}")
    elif result.verdicts:
        words.append(f"{max(v.severities['high'] for v in result.verdicts)} high")
    if result.verdicts and result.verdicts[0].proof:
        words.append(f"{result.verdicts[0].proof}, {tables.figure(result.verdicts[0].slowdown, '{:.1f}')} times as long")
    print(" ".join(words), file=sys.stderr, flush=True)


def heading(options, runner):
    version = runner.execute([runner.pieprof, "--version"]).out.strip() if not options.no_profile else "without pieprof"
    libraries = ", ".join(f"{name} {number}" for name, number in runner.versions(MODULES).items())
    return (f"### Detection: {options.libraries}, set {options.set}\n\n"
            f"- {datetime.date.today()}, {platform.release()}, {version}\n"
            f"- Python {runner.version}, {libraries}\n"
            f"- {options.repeats} repeats, scale {options.scale:g}, {options.threads or 'any number of'} threads"
            f"{f', each of {options.every} programs' if options.every > 1 else ''}{''.join(f', {one}' for one in options.option)}")


def known_gains(path):
    """{program: (of the work, of the whole run)} that an earlier run wrote with --json."""
    known = json.loads(pathlib.Path(path).read_text(encoding="utf-8")) if path else []
    return {one["program"]: (one["work_gain"], one["whole_gain"]) for one in known if one["whole_gain"]}


def everything(results):
    """All verdicts, for --json."""
    return [
        {"program": r.program.name, "category": r.program.category, "kind": r.program.kind, "lines": sorted(r.program.lines),
         "work_gain": r.work_gain, "whole_gain": r.whole_gain, "overhead": r.overhead,
         "verdicts": [vars(v) | {"estimate": v.estimate, "severities": dict(v.severities)} for v in r.verdicts]}
        for r in results
    ]


def main():
    options = arguments()
    if not catalogue.paths(options.set):
        sys.exit(f"run.py: the set {options.set} is empty: its programs have been looked into, and are in programs/ now")
    try:
        chosen = catalogue.programs(options.only, options.set)[::options.every]
    except ValueError as error:
        sys.exit(f"run.py: {error}")
    options.known_gains = known_gains(options.gains)
    runner = runs.Runner(options.python, options.pieprof, options.scale, options.threads)
    results, failures = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(options.keep or name)
        folder.mkdir(parents=True, exist_ok=True)
        for program in chosen:
            try:
                result, plain = measure(options, runner, program, folder)
            except runs.Failure as failure:
                failures.append(str(failure))
                print(f"{program.name}: {failure}", file=sys.stderr, flush=True)
                continue
            results.append(result)
            progress(result, plain)
    if not options.no_profile and results:
        bad, good = ([r for r in results if r.program.is_clean == is_clean] for is_clean in (False, True))
        parts = [heading(options, runner), tables.totals(bad, good), tables.wasteful(bad), tables.clean(good)]
        if options.confirm:
            parts.append(tables.confirmed(bad, good))
        text = "\n\n".join(parts) + "\n"
        print(text)
        print(tables.misses(results), file=sys.stderr)
        if options.markdown:
            pathlib.Path(options.markdown).write_text(text, encoding="utf-8")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(everything(results), indent=1), encoding="utf-8")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
