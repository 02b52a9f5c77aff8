// SPDX-License-Identifier: Apache-2.0
// The program's text with the costs beside each line, and who called a line.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { bytes, column, commonFolder, seconds, share } from "../base/format";
import { adjust, param } from "../base/route";
import type { Finding, Garbage, SourceFile } from "../data";
import { costs, isWhole } from "../data/filter";
import { againWords } from "../data/findings";
import { cpuOf, type LineCosts, linesOf, wholeLines } from "../data/lines";
import { measure } from "../data/measures";
import { profile, rows } from "../data/profile";
import { lineKinds } from "../flame/bylines";
import { bottomUp } from "../flame/merge";
import { MergedTable } from "../flame/table";
import { valuesOf } from "../data/values";
import { causeOf, type LineWaits, waitsAt, waitsByLine } from "../data/waits";
import { type Column, Grid } from "../ui/grid";
import { highlight, type Span } from "../ui/highlight";
import { Bar, Empty, Legend, Pick, placeText, splitText } from "../ui/parts";

interface CodeLine {
  line: number;
  spans: Span[] | null;
  costs: LineCosts | null;
  /** Lines that the profile does not have begin here. */
  gap: boolean;
  /** Known of the whole run only. */
  waits: LineWaits | null;
  /** CPU time of collections of garbage that began here, of the whole run. */
  garbage: number;
}

/** 60 characters of source are seen wherever there is room for them. */
const CODE_PX = 432;
const CODE_NARROW_PX = 170;
const NARROW_PX = 700;

let shownOf: { of: unknown; lines: LineCosts[] } | null = null;

/** Of what is chosen, all files. */
export function chosenLines(): LineCosts[] {
  const { data, tree } = profile();
  if (shownOf?.of !== costs.value)
    shownOf = { of: costs.value, lines: isWhole.value ? wholeLines(data) : linesOf(data, tree, costs.value) };
  return shownOf.lines;
}

/** Why lines waited, and which collected garbage. */
function addReasons(file: number, found: Map<number, CodeLine>): void {
  const current = profile();
  const path = current.text(current.data.source.files.path[file]) ?? "";
  const waits = waitsByLine(current.data);
  for (const line of found.values()) line.waits = waitsAt(waits, path, line.line);
  for (const row of rows<Garbage>(current.data.garbage)) {
    const line = row.file === path && row.line !== null ? found.get(row.line) : undefined;
    if (line) line.garbage += row.gc_s;
  }
}

/** "lock", or of several causes the one that weighs most, with its part: "lock 75 %" */
function causeText(waits: LineWaits): string {
  const [[cause, most_s], ...others] = waits.causes;
  return others.some(([, other_s]) => other_s >= 0.005 * waits.wait_s)
    ? `${cause} ${share(most_s / waits.wait_s, 0)}`
    : cause;
}

/** "3.00 s for a lock, 1.00 s for a socket; longest for 10.0.0.1:80; held at main.py:21 meanwhile" */
function waitsSentence(waits: LineWaits): string {
  const causes = waits.causes.map(([cause, time]) => `${seconds(time)} ${causeOf(cause).words}`);
  const { resource, holder_file, holder_line } = waits.most;
  return [
    `Waited ${causes.join(", ")}`,
    resource ? `longest for ${resource}` : "",
    holder_file ? `held at ${placeText(holder_file, holder_line)} meanwhile` : "",
    waits.held_s > 0 ? `the GIL was kept for ${seconds(waits.held_s)} of it` : "",
  ]
    .filter(Boolean)
    .join("; ");
}

function codeOf(file: number, lines: LineCosts[]): CodeLine[] {
  const { text } = profile().data.source;
  const numbers: number[] = [];
  const texts: string[] = [];
  for (let i = 0; i < text.file.length; i++) {
    if (text.file[i] !== file) continue;
    numbers.push(text.line[i]);
    texts.push(text.text[i]);
  }
  const spans = highlight(numbers, texts);
  const found = new Map<number, CodeLine>();
  numbers.forEach((line, i) => {
    found.set(line, { line, spans: spans[i], costs: null, gap: false, waits: null, garbage: 0 });
  });
  for (const one of lines) {
    const there = found.get(one.line) ?? {
      line: one.line,
      spans: null,
      costs: null,
      gap: false,
      waits: null,
      garbage: 0,
    };
    found.set(one.line, { ...there, costs: one });
  }
  if (isWhole.value) addReasons(file, found);
  const result = [...found.values()].sort((a, b) => a.line - b.line);
  result.forEach((one, i) => {
    one.gap = i > 0 && one.line > result[i - 1].line + 1;
  });
  return result;
}

function figure(value: number | null | undefined, show: (value: number) => string): string {
  return value ? show(value) : "";
}

function causeColumn(code: CodeLine[]): Column<CodeLine>[] {
  if (!code.some((row) => row.waits && row.waits.causes[0][0] !== "unknown")) return [];
  return [
    {
      key: "cause",
      title: "waits for",
      about: "What for longest, and the part of its waiting where there are several causes",
      width: 74,
      rank: 5,
      cell: (row) =>
        row.waits ? (
          <span class="cause" title={waitsSentence(row.waits)}>
            {causeText(row.waits)}
          </span>
        ) : null,
    },
  ];
}

/** Less in a whole file is not worth a column. */
const GARBAGE_MIN_S = 0.005;

function garbageColumn(code: CodeLine[]): Column<CodeLine>[] {
  if (!code.some((row) => row.garbage >= GARBAGE_MIN_S)) return [];
  return [
    {
      key: "garbage",
      title: "GC s",
      about: "CPU time of collections of garbage that began here; it is in CPU s too",
      width: 52,
      rank: 9,
      number: true,
      cell: (row) => (row.garbage >= 0.0005 ? column(row.garbage) : ""),
    },
  ];
}

/** Columns that are zero in the whole file are not shown. */
function columnsOf(
  code: CodeLine[],
  lines: LineCosts[],
  runCpu: number,
  codeWidth: number,
): Column<CodeLine>[] {
  const has = (of: (line: LineCosts) => number | null) => lines.some((line) => of(line));
  const most = Math.max(0, ...lines.map((line) => cpuOf(line) + (line.wait ?? 0)));
  const amount = (
    key: "allocated" | "peak" | "copied",
    title: string,
    about: string,
    rank: number,
  ): Column<CodeLine>[] =>
    has((line) => line[key])
      ? [{ key, title, about, width: 62, rank, number: true, cell: (row) => figure(row.costs?.[key], bytes) }]
      : [];
  const time = (
    key: "wait" | "delay" | "wasted" | "worked",
    title: string,
    about: string,
    rank: number,
  ): Column<CodeLine>[] =>
    has((line) => line[key])
      ? [
          {
            key,
            title,
            about,
            width: 58,
            rank,
            number: true,
            cell: (row) => figure(row.costs?.[key], column),
          },
        ]
      : [];
  return [
    {
      key: "bar",
      title: "split",
      about: "Python, native, system, waiting",
      width: 62,
      rank: 3,
      cell: (row) =>
        row.costs && cpuOf(row.costs) + (row.costs.wait ?? 0) > 0 ? (
          <Bar split={{ ...row.costs, delay: 0 }} whole={most} />
        ) : null,
    },
    {
      key: "cpu",
      title: "CPU s",
      width: 56,
      rank: 1,
      number: true,
      cell: (row) => figure(row.costs && cpuOf(row.costs), column),
    },
    {
      key: "share",
      title: "share",
      about: "Of the CPU time of all that is chosen",
      width: 54,
      rank: 6,
      number: true,
      cell: (row) =>
        figure(row.costs && cpuOf(row.costs), (value) => share(runCpu > 0 ? value / runCpu : null)),
    },
    ...time("wait", "wait s", "Off the CPU by its own doing", 4),
    ...causeColumn(code),
    ...time(
      "worked",
      "worked s",
      "CPU time of threads without Python frames (OpenMP, BLAS, rayon) while the line waited for them; in no other column",
      6,
    ),
    ...time("delay", "delay s", "Ready to run, without a processor", 11),
    ...time("wasted", "wasted s", "What a fix may save", 5),
    ...amount("allocated", "allocated", "Ever allocated", 7),
    ...amount("peak", "at peak", "Live at the peak", 8),
    ...amount("copied", "copied", "Copied in memory", 10),
    ...garbageColumn(code),
    {
      key: "line",
      title: "line",
      width: 40,
      rank: 0,
      number: true,
      cell: (row) => <span class="dim">{row.line}</span>,
    },
    { key: "code", title: "source", width: codeWidth, grow: 1, rank: 0, cell: (row) => <Code row={row} /> },
  ];
}

function Code({ row }: { row: CodeLine }): JSX.Element {
  if (!row.spans) return <span class="dim code">(no text)</span>;
  return (
    <span class="code">
      {row.spans.map((span) => (span.cls ? <span class={`hl-${span.cls}`}>{span.text}</span> : span.text))}
      {row.costs?.library && (row.costs.library_s ?? 0) >= 0.005 + 0.1 * cpuOf(row.costs) && (
        <span class="note">{`  [${row.costs.library} ${row.costs.library_s!.toFixed(2)} s]`}</span>
      )}
    </span>
  );
}

function Callers({ path, line }: { path: string; line: number }): JSX.Element {
  const { tree } = profile();
  const shape = useMemo(() => lineKinds(tree), [tree]);
  const by = measure(param("by") || "all");
  const values = valuesOf(by) ?? valuesOf(measure("cpu"));
  const merged = useMemo(() => {
    if (!values) return null;
    const totals = tree.totals(values);
    const inside = new Uint8Array(tree.size);
    const amounts = new Float64Array(tree.size);
    for (let node = 1; node < tree.size; node++) {
      const is = tree.line[node] === line && tree.file(tree.fn[node]) === path;
      const within = inside[tree.parent[node]];
      inside[node] = within || is ? 1 : 0;
      if (is && !within) amounts[node] = totals[node];
    }
    return bottomUp(tree, shape, amounts);
  }, [values, path, line]);
  if (!merged || !(merged.total[0] > 0)) return <Empty>No call path of this line was seen.</Empty>;
  // The line itself is the only child of the root; functions of one line may be several.
  const root = merged.children[0].length === 1 ? merged.children[0][0] : 0;
  return (
    <MergedTable
      label={`Callers of line ${line}`}
      merged={merged}
      root={root}
      measure={by}
      whole={merged.total[0]}
      hasSelf={false}
      height={7}
      place={(kind) => shape.places[kind]}
      empty="Nothing calls this line: a thread begins here, or the file does."
    />
  );
}

function LinePanel({ path, line, lines }: { path: string; line: number; lines: LineCosts[] }): JSX.Element {
  const waits = isWhole.value ? waitsAt(waitsByLine(profile().data), path, line) : null;
  const one = lines.find((item) => item.line === line);
  const finding = one && one.finding !== null ? rows<Finding>(profile().data.findings)[one.finding] : null;
  return (
    <section class="panel">
      <h2>
        Callers of line {line}
        <small>{one ? splitText(one) : "no cost of its own"}</small>
      </h2>
      {finding && (
        <p class="finding-note">
          <strong>{finding.category}</strong>
          {finding.wasted_s !== null && `: ${finding.wasted_s.toFixed(2)} s, ${againWords(finding)}. `}
          {finding.advice && `Try: ${finding.advice}`}
        </p>
      )}
      {waits && <p class="finding-note">{waitsSentence(waits)}</p>}
      <Callers path={path} line={line} />
    </section>
  );
}

export function Source(): JSX.Element {
  const current = profile();
  const files = useMemo(() => rows<SourceFile>(current.data.source.files), [current]);
  const paths = files.map((file) => current.text(file.path) ?? "?");
  const wanted = paths.indexOf(param("file"));
  const file = Math.max(0, wanted);
  const all = chosenLines();
  const lines = useMemo(() => all.filter((line) => line.file === file), [all, file]);
  const code = useMemo(() => codeOf(file, lines), [file, lines]);
  const codeWidth = innerWidth < NARROW_PX ? CODE_NARROW_PX : CODE_PX;
  const runCpu = isWhole.value
    ? (current.data.run.cpu_s ?? 0)
    : (valuesOf(measure("cpu"))?.reduce((sum, value) => sum + value, 0) ?? 0);
  const columns = useMemo(() => columnsOf(code, lines, runCpu, codeWidth), [code, lines, runCpu, codeWidth]);
  if (files.length === 0)
    return <Empty>The profile has no source text: nothing of Python was sampled.</Empty>;

  const folder = commonFolder(paths.filter((_, i) => files[i].library === null));
  const asked = Number(param("line"));
  const costliest = lines.toSorted((a, b) => cpuOf(b) - cpuOf(a) || (b.wait ?? 0) - (a.wait ?? 0))[0];
  const line = asked || costliest?.line || code[0]?.line || 0;
  const title = (path: string, one: SourceFile) => {
    const library = current.text(one.library);
    const short = path.startsWith(folder) ? path.slice(folder.length) : path.split("/").slice(-2).join("/");
    return `${library ? `[${library}] ` : ""}${short}  ${one.cpu_s === null ? "" : `${one.cpu_s.toFixed(2)} s`}`;
  };
  return (
    <div class="view source-view">
      <div class="tools">
        <Pick
          label="File"
          value={paths[file]}
          choices={paths.map((path, i) => ({ value: path, title: title(path, files[i]) }))}
          onChange={(value) => adjust({ file: value, line: "" })}
        />
        <span class="dim path" title={paths[file]}>
          {paths[file]}
        </span>
        <Legend kinds={["python", "native", "system", "wait"]} />
      </div>
      {current.cutOf("source.lines") && <p class="dim">{`Lines shown: ${current.cutOf("source.lines")}.`}</p>}
      <Grid
        label={`Lines of ${paths[file]}`}
        columns={columns}
        rows={code}
        id={(row) => `${row.line}`}
        current={`${line}`}
        onCurrent={(row) => adjust({ file: paths[file], line: `${row.line}` })}
        start={code.findIndex((row) => row.line === line)}
        rowClass={(row) =>
          `${row.gap ? "gap " : ""}${row.costs?.finding != null && row.costs.wasted ? "found" : ""}`
        }
        rowHeight={22}
        empty="No line of this file has a cost in what is chosen."
      />
      <LinePanel path={paths[file]} line={line} lines={lines} />
    </div>
  );
}
