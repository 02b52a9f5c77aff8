// SPDX-License-Identifier: Apache-2.0
// Findings as people read them, in the words of the summary on the terminal: what, where, how sure, what to try, gain.
import { bytes, count, plural, seconds, share } from "../base/format";
import type { Finding, Leak, NeedlessCopy, PageData, UndecidedLine } from "../data";
import { hintCards } from "./hint-cards";
import { rows } from "./profile";

export interface Card {
  /** machine: not about the program, but where it runs. */
  weight: "high" | "maybe" | "machine" | "low";
  /** A sentence's beginning: "Slice underutilization". */
  what: string;
  file: string | null;
  line: number | null;
  inside: string | null;
  sure: string;
  tryThis: string | null;
  /** "11.14 s", "3.00 MB/s": what a fix gains, or what a leak takes. */
  gain: string;
  gainAbout: string;
  /** Part of the run that it is about; for the order. */
  part: number;
  verdict: string | null;
  evidence: string | null;
  /** Index into the findings; null: it is none of them. */
  finding: number | null;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** "79 ± 9 %": how far away the farther end of the interval is. */
export function fraction(value: number | null, low: number | null, high: number | null): string {
  if (value === null) return "–";
  if (low === null || high === null) return share(value, 0);
  const away = Math.max(100 * (high - value), 100 * (value - low));
  return `${(100 * value).toFixed(0)} ± ${Math.ceil(away - 1e-9)}\u00a0%`;
}

export function againWords(finding: Pick<Finding, "again" | "kind">): string {
  if (finding.again) return finding.again;
  return finding.kind === "load" ? "looked up again" : "computed again";
}

function hasTwoFigures(finding: Finding): boolean {
  return finding.wasted_s !== null && finding.again_s !== null && finding.wasted_s - finding.again_s >= 0.005;
}

function sureOf(finding: Finding): string {
  if (finding.verdict === "confirmed" && finding.facts) return `Counted: ${finding.facts}`;
  if (finding.verdict && finding.facts) return `${capital(finding.verdict)}: ${finding.facts}`;
  const interval =
    finding.wasted_s_low !== null && finding.wasted_s_high !== null
      ? `${finding.wasted_s_low.toFixed(2)} to ${finding.wasted_s_high.toFixed(2)} s at 95 %`
      : "";
  if (finding.redundant_fraction === null)
    return interval ? capital(interval) : "From the sizes of its copies";
  const seen = `${fraction(finding.redundant_fraction, finding.fraction_low, finding.fraction_high)} redundant in ${plural(finding.traps, "comparison")}`;
  return interval ? `${interval}; ${seen}` : seen;
}

/** "87 % of the run, 4.49 s looked up again" */
function aboutOf(finding: Finding): string {
  const part = finding.wasted_share === null ? "" : `${share(finding.wasted_share, 0)} of the run`;
  const again = hasTwoFigures(finding)
    ? `${seconds(finding.again_s)} ${againWords(finding)}`
    : againWords(finding);
  return [part, again].filter(Boolean).join(", ");
}

function place(finding: Finding): string | null {
  if (!finding.library) return finding.function ? `in ${finding.function}` : null;
  const user = finding.user_file
    ? `, called from ${finding.user_file.split("/").pop()}:${finding.user_line}`
    : "";
  return `of ${finding.library}${user}`;
}

/** Of the run's CPU time: what may waste so much is told beside what surely does, as on the terminal. */
const MAY_WASTE_MIN = 0.1;

/** Is there a category, and may the waste matter, though too little was compared to be sure? */
function mayMatter(finding: Finding): boolean {
  const { wasted_s, wasted_share, wasted_s_high } = finding;
  if (finding.severity !== "low" || finding.library || finding.category === "undecided") return false;
  if (
    !wasted_s ||
    !wasted_share ||
    wasted_s_high === null ||
    finding.evidence?.includes("evidence for the finding of")
  )
    return false;
  return wasted_s_high * (wasted_share / wasted_s) >= MAY_WASTE_MIN;
}

function findingCard(finding: Finding, index: number): Card {
  const maybe = finding.severity === "maybe";
  return {
    weight: finding.severity === "high" ? "high" : maybe || mayMatter(finding) ? "maybe" : "low",
    what: maybe ? "Perhaps needless passes" : capital(finding.category ?? "category unknown"),
    file: finding.file,
    line: finding.line,
    inside: place(finding),
    sure: maybe ? (finding.evidence ?? "") : sureOf(finding),
    tryThis: finding.advice,
    gain: maybe ? "" : seconds(finding.gain_s ?? finding.wasted_s),
    gainAbout: maybe ? "" : aboutOf(finding),
    part: finding.wasted_share ?? 0,
    verdict: finding.verdict,
    evidence: finding.evidence,
    finding: index,
  };
}

function leakCard(leak: Leak, peak: number | null): Card {
  return {
    weight: "high",
    what: "Memory leak",
    file: leak.file,
    line: leak.line,
    inside: leak.library ? `of ${leak.library}` : leak.function ? `in ${leak.function}` : null,
    sure: `Score ${leak.score?.toFixed(2) ?? "–"}: ${count(leak.frees)} of ${plural(leak.mallocs, "kept sample")} freed`,
    tryThis: leak.holder ? `Let it go: held by ${leak.holder}` : "Find what keeps these objects",
    gain: `${bytes(leak.rate_bytes_per_s)}/s`,
    gainAbout: `${bytes(leak.leaked_bytes)} in all`,
    part: peak ? (leak.leaked_bytes ?? 0) / peak : 0,
    verdict: null,
    evidence: null,
    finding: null,
  };
}

export const NEEDLESS = "Needless copies";

function needlessCard(copy: NeedlessCopy): Card {
  return {
    weight: "high",
    what: NEEDLESS,
    file: copy.file,
    line: copy.line,
    inside: copy.library ? `of ${copy.library}` : copy.function ? `in ${copy.function}` : null,
    sure: `${fraction(copy.needless_share, copy.needless_low, copy.needless_high)} of ${plural(copy.copies ?? 0, "followed copy", "followed copies")}: neither array was written before one died`,
    tryThis: "Use a view: a slice, a memoryview, astype(…, copy=False), numpy.asarray()",
    gain: seconds(copy.cpu_s),
    gainAbout: `${bytes(copy.bytes)} copied`,
    part: copy.cpu_share ?? 0,
    verdict: null,
    evidence: null,
    finding: null,
  };
}

export const UNDECIDED = "Undecided line of weight";

/** In the words of the summary: what a line takes, what is known of its calls, and what to do to decide. */
function undecidedCard(data: PageData, row: UndecidedLine): Card {
  const index = row.count_finding === null ? -1 : data.findings.rank.indexOf(row.count_finding);
  const count =
    row.count_finding === null
      ? ""
      : `Count its calls with “pieprof confirm ${data.page.profile} --finding ${row.count_finding}”; `;
  return {
    weight: "maybe",
    what: UNDECIDED,
    file: row.file,
    line: row.line,
    inside: null,
    sure: `Takes ${share(row.share, 0)} of the run, ${row.known}`,
    tryThis: `${count}${row.what_to_do}`,
    gain: share(row.share, 0),
    gainAbout: "of the run; it is not known that any of it is needless",
    part: row.share,
    verdict: null,
    evidence: null,
    finding: index < 0 ? null : index,
  };
}

export const samePlace = (a: Card, b: Card) => a.file !== null && a.file === b.file && a.line === b.line;

/** With lines of which nothing is decided, unless a finding says more of them. */
function withUndecided(data: PageData, found: Card[]): Card[] {
  const lines = rows<UndecidedLine>(data.undecided_lines)
    .map((row) => undecidedCard(data, row))
    .filter((card) => !found.some((one) => one.weight !== "low" && samePlace(one, card)));
  return [
    ...found.filter((one) => one.weight !== "low" || !lines.some((line) => samePlace(one, line))),
    ...lines,
  ];
}

/** Each line once, by its costliest finding; a library's line only where no own line says the same. */
function chosen(findings: Finding[]): [Finding, number][] {
  const seen = new Set<string>();
  const all = findings.map((finding, index): [Finding, number] => [finding, index]);
  const first = all.filter(([one]) => {
    const key = `${one.file}:${one.line}`;
    return one.severity !== "reuse" && !seen.has(key) && seen.add(key);
  });
  const own = new Set(
    first
      .filter(([one]) => !one.library && one.severity === "high")
      .map(([one]) => `${one.file}:${one.line}`),
  );
  return first.filter(([one]) => !one.library || !own.has(`${one.user_file}:${one.user_line}`));
}

/** 1: large, but nothing says that it is needless, so what may be needless comes first. */
function isOnlyLarge(card: Card): number {
  return card.weight === "maybe" && (card.finding === null || card.what === UNDECIDED) ? 1 : 0;
}

const WEIGHTS = { high: 0, maybe: 1, machine: 2, low: 3 };
/** From so much of the run on, a needless copy is worth a card, as on the terminal. */
const NEEDLESS_PART_MIN = 0.05;

export function cards(data: PageData): Card[] {
  const needless = rows<NeedlessCopy>(data.needless_copies).filter(
    (copy) => copy.verdict === "needless" && (copy.cpu_share ?? 0) >= NEEDLESS_PART_MIN,
  );
  const found = withUndecided(data, [
    ...chosen(rows<Finding>(data.findings)).map(([finding, index]) => findingCard(finding, index)),
    ...rows<Leak>(data.leaks).map((leak) => leakCard(leak, data.run.peak_bytes)),
    ...needless.map(needlessCard),
  ]);
  const all = [...found, ...hintCards(data, found)];
  return all.sort(
    (a, b) => WEIGHTS[a.weight] - WEIGHTS[b.weight] || isOnlyLarge(a) - isOnlyLarge(b) || b.part - a.part,
  );
}
