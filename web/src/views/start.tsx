// SPDX-License-Identifier: Apache-2.0
// What to change: the findings, the most valuable first; where the time went; how much memory there was.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytes, clock, column, plural, seconds, share } from "../base/format";
import { go, link } from "../base/route";
import type { Heap, MemoryPoint, Process, Thread } from "../data";
import { chooseOf } from "../data/filter";
import { type Card, cards } from "../data/findings";
import { cpuOf, type LineCosts, wholeLines } from "../data/lines";
import { type Profile, profile, rows } from "../data/profile";
import { Curve } from "../ui/curve";
import { type Column, Grid } from "../ui/grid";
import { Bar, Empty, type Kind, Place, placeText, placeWidth, Section, type Split } from "../ui/parts";

const CARDS_SHOWN = 3;

function CardOf({ card, number }: { card: Card; number: number }): JSX.Element {
  const cls = card.verdict === "refuted" ? "refuted" : card.weight;
  return (
    <li class={`card ${cls}`}>
      <div class="about">
        <h3>
          <span class="what">{card.what}</span>
          {card.verdict && <span class={`verdict ${card.verdict}`}>{card.verdict}</span>}
        </h3>
        <p class="where">
          <Place file={card.file} line={card.line} />
          {card.inside && <span class="dim"> {card.inside}</span>}
          {card.finding !== null && card.file && (
            <a
              class="more"
              href={link("pairs", { finding: `${card.finding}` })}
              aria-label={`Pairs of finding ${number}`}
            >
              pairs
            </a>
          )}
        </p>
        {card.tryThis && (
          <p class="try">
            <b>Try</b>
            <span>{card.tryThis}</span>
          </p>
        )}
        <p class="sure" title={card.evidence ?? undefined}>
          <b>Sure</b>
          <span>{card.sure}</span>
        </p>
      </div>
      {card.gain && (
        <p class="gain">
          <strong>{card.gain}</strong>
          <span>{card.gainAbout}</span>
        </p>
      )}
    </li>
  );
}

/** What the page says where nothing was found. */
function nothingFound(of: Profile): string {
  const { run } = of.data;
  if (run.sampler !== "none")
    return "No work of weight was found that is done again. The costliest lines are below.";
  return run.sampler_note ?? "Redundant work was not looked for in this run. The costliest lines are below.";
}

function unsure(of: Profile, card: Card): string {
  const likeliest = "Nothing is sure enough to act on; this is the likeliest.";
  if (card.finding === null || card.verdict) return likeliest;
  return `${likeliest} “pieprof confirm ${of.data.page.profile} --finding ${of.data.findings.rank[card.finding]}” counts its calls.`;
}

function Findings({ of }: { of: Profile }): JSX.Element {
  const all = useMemo(() => cards(of.data), [of]);
  const [more, setMore] = useState(false);
  const strong = all.filter((card) => card.weight !== "low");
  const first = strong.length > 0 ? strong : all.slice(0, 1);
  const shown = more ? all : first.slice(0, CARDS_SHOWN);
  return (
    <Section title="What to change" note={all.length > 0 ? plural(all.length, "finding") : null}>
      {all.length === 0 && <Empty>{nothingFound(of)}</Empty>}
      {strong.length === 0 && first[0] && <p class="dim">{unsure(of, first[0])}</p>}
      <ol class="cards">
        {shown.map((card, i) => (
          <CardOf card={card} number={i + 1} />
        ))}
      </ol>
      {all.length > shown.length && (
        <button type="button" class="link" onClick={() => setMore(true)}>
          {`Show ${all.length - shown.length} more, of less weight or less sure`}
        </button>
      )}
    </Section>
  );
}

/** The main thread's parts add up to the program's time. */
function mainThread(of: Profile): Thread | null {
  return (
    rows<Thread>(of.data.threads).find(
      (thread) => thread.is_main && thread.process === of.data.processes.process[0],
    ) ?? null
  );
}

function splitOf(cost: {
  python_s: number | null;
  native_s: number | null;
  system_s: number | null;
  wait_s: number | null;
  runnable_s: number | null;
  throttled_s: number | null;
}): Split {
  return {
    python: cost.python_s,
    native: cost.native_s,
    system: cost.system_s,
    wait: cost.wait_s,
    delay: (cost.runnable_s ?? 0) + (cost.throttled_s ?? 0),
  };
}

const SPLIT_KINDS: [Kind, string, string][] = [
  ["python", "Python", "in the interpreter"],
  ["native", "native", "in compiled code"],
  ["system", "system", "in the kernel"],
  ["wait", "waiting", "off the CPU"],
  ["delay", "for a processor", "ready to run"],
];

function SplitOfTime({ of }: { of: Profile }): JSX.Element {
  const { run } = of.data;
  const main = run.threads === 1 ? mainThread(of) : null;
  const split = splitOf(main ?? run);
  const whole = SPLIT_KINDS.reduce((sum, [kind]) => sum + (split[kind] ?? 0), 0);
  return (
    <section class="split" aria-label="Split of time">
      <Bar split={split} whole={whole} tall />
      <ul class="figures">
        {SPLIT_KINDS.filter(([kind]) => kind !== "delay" || (split.delay ?? 0) >= 0.01).map(
          ([kind, name, about]) => (
            <li>
              <span class="name">
                <span class={`dot ${kind}`} aria-hidden="true" />
                {name}
              </span>
              <strong>{seconds(split[kind] ?? null)}</strong>
              <span class="dim">{`${share(whole > 0 ? (split[kind] ?? 0) / whole : null, 0)} ${about}`}</span>
            </li>
          ),
        )}
        <li class="whole">{`of ${seconds(whole)} of ${main ? "the program" : plural(run.threads, "thread")}`}</li>
      </ul>
    </section>
  );
}

/** The process that had most memory. */
function Memory({ of }: { of: Profile }): JSX.Element {
  const heap = rows<Heap>(of.data.heap).sort((a, b) => (b.peak_bytes ?? 0) - (a.peak_bytes ?? 0))[0];
  const curve = useMemo(() => {
    const points = rows<MemoryPoint>(of.data.memory_timeline).filter(
      (point) => !heap || point.process === heap.process,
    );
    return {
      times: points.map((point) => point.t_s),
      lines: [
        {
          title: `resident, at most ${bytes(heap?.rss_peak_bytes ?? null)}`,
          colour: "rss",
          values: points.map((point) => point.rss_bytes),
        },
        {
          title: "heap",
          colour: "heap",
          filled: true,
          values: points.map((point) => point.python_bytes + point.native_bytes),
        },
      ],
    };
  }, [of]);
  if (!heap || curve.times.length < 2) return <Empty>Memory was not measured in this run.</Empty>;
  const at = heap.peak_t_s === null ? null : { t_s: heap.peak_t_s, title: "peak" };
  const tops = linesAtPeak(of);
  return (
    <>
      <p class="headline">
        <strong>{bytes(heap.peak_bytes)}</strong>
        {heap.peak_t_s !== null && ` at ${clock(heap.peak_t_s)}`}
        {heap.peak_bytes !== null &&
          heap.peak_python_bytes !== null &&
          `, Python ${share(heap.peak_python_bytes / heap.peak_bytes, 0)}`}
      </p>
      <Curve
        label="Memory over time; the view Memory has its figures"
        times={curve.times}
        lines={curve.lines}
        height={150}
        mark={at}
      />
      <ul class="tops">
        {tops.map((line) => (
          <li>
            <Place file={of.text(of.data.source.files.path[line.file])} line={line.line} />
            <span class="num">{bytes(line.peak)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Lines of own code with the memory of all that they called. */
function linesAtPeak(of: Profile): LineCosts[] {
  const own = wholeLines(of.data).filter(
    (line) => of.data.source.files.library[line.file] === null && (line.peak ?? 0) > 0,
  );
  return own.sort((a, b) => (b.peak ?? 0) - (a.peak ?? 0)).slice(0, 3);
}

function ProcessList({ of }: { of: Profile }): JSX.Element {
  const all = useMemo(() => rows<Process>(of.data.processes), [of]);
  const most = Math.max(...all.map((one) => (one.cpu_s ?? 0) + (one.wait_s ?? 0)), 0);
  const columns: Column<Process>[] = [
    {
      key: "command",
      title: "process",
      width: 100,
      grow: 1,
      rank: 0,
      cell: (row) => <span title={row.command ?? ""}>{commandName(row)}</span>,
    },
    {
      key: "bar",
      title: "split",
      width: 50,
      rank: 2,
      cell: (row) => <Bar split={{ ...splitOf(row), delay: 0 }} whole={most} />,
    },
    { key: "cpu", title: "CPU s", width: 58, rank: 1, number: true, cell: (row) => column(row.cpu_s) },
    { key: "end", title: "end", width: 70, rank: 3, cell: (row) => endText(row) },
  ];
  const shown = all.slice(0, 200);
  return (
    <Grid
      label="Processes"
      columns={columns}
      rows={shown}
      id={(row) => `${row.process}`}
      onOpen={(row) => {
        go("processes");
        chooseOf(row.process);
      }}
      height={4}
      empty="The profile has no process."
    />
  );
}

export function commandName(row: Process): string {
  const words = (row.command ?? row.executable ?? "").split(" ");
  return (
    words.map((word) => (word.startsWith("/") ? word.split("/").pop() : word)).join(" ") || `pid ${row.pid}`
  );
}

export function endText(row: { cause: string | null; exit_status: number | null }): string {
  if (row.cause === null) return "–";
  return row.cause.includes("exit") ? `${row.cause} ${row.exit_status ?? ""}`.trim() : row.cause;
}

function Costliest({ of }: { of: Profile }): JSX.Element {
  const lines = useMemo(() => {
    const own = wholeLines(of.data).filter((line) => of.data.source.files.library[line.file] === null);
    return own
      .filter((line) => cpuOf(line) + (line.wait ?? 0) > 0)
      .sort((a, b) => cpuOf(b) - cpuOf(a) || (b.wait ?? 0) - (a.wait ?? 0))
      .slice(0, 40);
  }, [of]);
  const texts = useMemo(() => textsOf(of, lines), [of, lines]);
  const path = (line: LineCosts) => of.text(of.data.source.files.path[line.file]);
  const most = lines.reduce((sum, line) => Math.max(sum, cpuOf(line) + (line.wait ?? 0)), 0);
  const runCpu = of.data.run.cpu_s ?? 0;
  const columns: Column<LineCosts>[] = [
    {
      key: "bar",
      title: "split",
      width: 84,
      rank: 4,
      cell: (row) => <Bar split={{ ...row, delay: 0 }} whole={most} />,
    },
    {
      key: "cpu",
      title: "CPU s",
      width: 62,
      rank: 0,
      number: true,
      cell: (row) => column(cpuOf(row)),
      sort: cpuOf,
    },
    {
      key: "share",
      title: "share",
      width: 62,
      rank: 2,
      number: true,
      cell: (row) => share(runCpu > 0 ? cpuOf(row) / runCpu : null),
    },
    ...(lines.some((line) => (line.wait ?? 0) >= 0.0005)
      ? [
          {
            key: "wait",
            title: "wait s",
            width: 62,
            rank: 3,
            number: true,
            cell: (row: LineCosts) => (row.wait ? column(row.wait) : ""),
            sort: (row: LineCosts) => row.wait,
          },
        ]
      : []),
    {
      key: "place",
      title: "line",
      width: placeWidth(lines.map((line) => placeText(path(line), line.line))),
      rank: 0,
      cell: (row) => <Place file={path(row)} line={row.line} quiet />,
    },
    {
      key: "text",
      title: "source",
      width: 70,
      grow: 1,
      rank: 1,
      cell: (row) => <span class="code">{texts.get(row)}</span>,
    },
  ];
  return (
    <Grid
      label="Costliest lines of your code"
      columns={columns}
      rows={lines}
      id={(row) => `${row.file}:${row.line}`}
      onOpen={(row) => go("source", { file: path(row) ?? "", line: `${row.line}` })}
      empty="No line of your own code was sampled."
    />
  );
}

function textsOf(of: Profile, lines: LineCosts[]): Map<LineCosts, string> {
  const wanted = new Map(lines.map((line) => [`${line.file}:${line.line}`, line]));
  const found = new Map<LineCosts, string>();
  const { text } = of.data.source;
  for (let i = 0; i < text.file.length; i++) {
    const line = wanted.get(`${text.file[i]}:${text.line[i]}`);
    if (line) found.set(line, text.text[i].trim());
  }
  return found;
}

export function Start(): JSX.Element {
  const of = profile();
  return (
    <div class="view start-view">
      <SplitOfTime of={of} />
      <div class="left">
        <Findings of={of} />
        <Section title="Costliest lines of your code" cls="lines">
          <Costliest of={of} />
        </Section>
      </div>
      <div class="right">
        <Section title="Memory at the peak">
          <Memory of={of} />
        </Section>
        <Section title="Processes" note={plural(of.data.run.threads, "thread")}>
          <ProcessList of={of} />
        </Section>
      </div>
    </div>
  );
}
