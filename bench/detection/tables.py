# SPDX-License-Identifier: Apache-2.0
"""What was found, as Markdown tables; README.md shows them."""

import judge


def figure(value, pattern="{:.2f}"):
    return "–" if value is None else pattern.format(value)


def fraction_of(finding):
    if not finding or finding["redundant_fraction"] is None:
        return "–"
    low, high = figure(finding["fraction_low"]), figure(finding["fraction_high"])
    return f"{finding['redundant_fraction']:.2f} ({low}–{high})"


def row(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def head(cells):
    return [row(cells), "|" + "---|" * len(cells)]


def ranks(verdicts):
    return " ".join("–" if verdict.rank is None else str(verdict.rank) for verdict in verdicts)


def named_as(verdict):
    if verdict.is_category_right:
        return "right"
    named = verdict.finding["category"] if verdict.finding else "–"
    return f"{named} (defensible)" if verdict.is_category_defensible else named


def proof_of(result):
    """What pieprof confirm says: the bound as a part of what the fix saves, and the verdict where it is another."""
    first = result.verdicts[0]
    if first.proof is None or not result.whole_gain or result.whole_gain <= 1.0:
        return "–"
    ratio = None if first.bound_share is None else first.bound_share / judge.saved_share(result.whole_gain)
    return figure(ratio) if first.proof == "confirmed" else f"{figure(ratio)}, {first.proof}"


def wasteful(results):
    """One line for each program whose waste is known."""
    cells = ["program", "category", "rank of the true line", "named category", "kind", "redundant", "severity", "estimate",
             "fix, work", "fix, whole run", "told / true waste", "bound / true waste", "same verdict"]
    lines = head(cells)
    for result in results:
        verdict, program = judge.middle(result.verdicts), result.program
        finding = verdict.finding or {}
        lines.append(row([
            program.name, program.category, ranks(result.verdicts), named_as(verdict),
            f"{finding.get('kind', '–')} ({program.kind})", fraction_of(verdict.finding), finding.get("severity", "–"),
            figure(judge.median([v.estimate for v in result.verdicts]), "{:.2f}×"),
            figure(result.work_gain, "{:.2f}×"), figure(result.whole_gain, "{:.2f}×"),
            figure(judge.median([judge.told_to_true(v, result.whole_gain) for v in result.verdicts])),
            proof_of(result),
            figure(100.0 * judge.agreement(result.verdicts), "{:.0f} %"),
        ]))
    return "\n".join(lines)


def clean(results):
    lines = head(["clean program", "high", "low", "reuse", "overhead", "same verdict"])
    for result in results:
        counts = [judge.median([v.severities[name] for v in result.verdicts]) for name in ("high", "low", "reuse")]
        agreed = figure(100.0 * judge.agreement(result.verdicts), "{:.0f} %")
        lines.append(row([result.program.name, *(f"{n:g}" for n in counts), figure(result.overhead, "{:.3f}×"), agreed]))
    return "\n".join(lines)


FACT_LENGTH = 110


def confirmed(bad, good):
    """What pieprof confirm says of each program: verdict, fact, bound, saving."""
    lines = ["What `pieprof confirm` counted at the first true line, of clean programs at the first finding:", "",
             *head(["program", "verdict", "fact", "bound", "saving"])]
    for result in bad + good:
        first = result.verdicts[0]
        if not first.proof:
            continue
        fact = first.facts if len(first.facts) <= FACT_LENGTH else first.facts[:FACT_LENGTH - 1] + "…"
        saving = judge.saved_share(result.whole_gain) if result.whole_gain else None
        lines.append(row([result.program.name, first.proof, fact.replace("|", "\\|"), figure(first.bound_share), figure(saving)]))
    return "\n".join(lines)


def share(part, whole):
    return f"{part} of {whole} ({100.0 * part / whole:.0f} %)" if whole else "–"


def totals(bad, good):
    """The goals and what was reached, over all repeats."""
    verdicts = [(result.program, v) for result in bad for v in result.verdicts]
    high = sum(v.severities["high"] > 0 for result in good for v in result.verdicts)
    agreed = sum(judge.agreement(r.verdicts) * len(r.verdicts) for r in bad + good)
    fixed = [(v, result.whole_gain) for result in bad for v in result.verdicts if (result.whole_gain or 0.0) > 1.0]
    sized = [(v, gain) for v, gain in fixed if v.wasted_interval[1] > 0.0]
    told = judge.median([judge.told_to_true(v, gain) for v, gain in fixed])
    profiles, cleans = sum(len(r.verdicts) for r in bad + good), sum(len(r.verdicts) for r in good)
    count = len(verdicts)
    lines = head(["goal", "reached"])
    lines += [
        row([f"true line among the first {judge.FIRST}: all", share(sum(v.is_found for _, v in verdicts), count)]),
        row(["true line first: ≥ 80 %", share(sum(v.rank == 1 for _, v in verdicts), count)]),
        row(["category right: ≥ 75 %", share(sum(v.is_category_right for _, v in verdicts), count)]),
        row(["high, and the category right or defensible: ≥ 85 %",
             share(sum(v.is_high and v.is_category_defensible for _, v in verdicts), count)]),
        row(["… at the true line, or at one that calls it or that it calls, and worth 0.5 to 2 times what the fix saves",
             share(sum(judge.is_named(v, gain) for v, gain in fixed), len(fixed))]),
        row(["told / true waste, median: 0.8 to 1.25", figure(told)]),
        row(["saving of the fix inside the interval of the waste: ≥ 90 %",
             share(sum(judge.is_inside(v, gain) for v, gain in fixed), len(fixed))]),
        row(["… of those with a figure of waste", share(sum(judge.is_inside(v, gain) for v, gain in sized), len(sized))]),
        row(["clean programs with a high finding: none", share(high, cleans)]),
        *proofs(bad, good),
    ]
    if profiles > len(bad + good):
        lines.append(row(["same verdict when repeated: ≥ 95 %", share(round(agreed), profiles)]))
    return "\n".join(lines)


def proofs(bad, good):
    """Rows about pieprof confirm, where it was run."""
    first = [(result.verdicts[0], result.whole_gain) for result in bad if result.verdicts[0].proof]
    if not first:
        return []
    bounded = [(v, gain) for v, gain in first if (gain or 0.0) > 1.0 and v.bound_share is not None]
    return [
        row(["confirm: the waste is not refuted: all", share(sum(v.proof != "refuted" for v, _ in first), len(first))]),
        row(["confirm: the waste is confirmed", share(sum(v.proof == "confirmed" for v, _ in first), len(first))]),
        row(["confirm: its bound is above the saving, where it prints one: all",
             share(sum(judge.is_bound_kept(v, gain) for v, gain in bounded), len(bounded))]),
        row(["confirm: clean programs with a high finding: none",
             share(sum(result.verdicts[0].proven_high > 0 for result in good), len(good))]),
    ]


def misses(results):
    """The first findings where something was wrong, for whoever fixes it."""
    lines = []
    for result in results:
        for number, verdict in enumerate(result.verdicts, 1):
            is_wrong = verdict.severities["high"] > 0 if result.program.is_clean else not (
                verdict.rank == 1 and verdict.is_category_right)
            if is_wrong:
                expected = "clean" if result.program.is_clean else (
                    f"{result.program.category}, {result.program.kind}, lines {sorted(result.program.lines)}")
                lines += [f"{result.program.name} (run {number}; {expected}), first findings:"]
                lines += [f"  {text}" for text in verdict.top] or ["  none"]
                if verdict.rank and verdict.rank > judge.FIRST:
                    lines.append(f"  … {judge.in_words(verdict.finding)}")
    return "\n".join(lines)
