// SPDX-License-Identifier: Apache-2.0
// What to change: the findings, the most valuable first; where the time went; how much memory there was.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { bytes, clock, column, plural, seconds, share } from "../base/format";
import { go } from "../base/route";
import type { Heap, MemoryPoint, Process, Thread } from "../data";
import { chooseOf } from "../data/filter";
import { type LineCosts, wholeLines } from "../data/lines";
import { type Profile, profile, rows } from "../data/profile";
import { Curve } from "../ui/curve";
import { type Column, Grid } from "../ui/grid";
import { Bar, Empty, type Kind, Place, Section, type Split } from "../ui/parts";
import { commandName, endText } from "./names";
import { Findings, isTall } from "./start-findings";
import { Costliest, workedFor } from "./start-lines";
import { Waits } from "./start-waits";

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
  ["delay", "ready to run", "without a processor"],
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
    { key: "cpu", title: "CPU s", width: 62, rank: 1, number: true, cell: (row) => column(row.cpu_s) },
    { key: "end", title: "end", width: 66, rank: 3, cell: (row) => endText(row) },
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

export function Start(): JSX.Element {
  const of = profile();
  const worked = workedFor(of);
  // The source is as wide as the page where memory leaves room beside the findings, and is not far below them.
  const isAlone = of.data.run.processes === 1;
  const isWide = isAlone && isTall(of.data);
  return (
    <div class={`view start-view${isAlone ? " alone" : ""}${isWide ? " wide" : ""}`}>
      <SplitOfTime of={of} />
      <Findings of={of} />
      <Section
        title="Costliest lines of your code"
        note={worked > 0 ? `native threads worked ${seconds(worked)} for them` : null}
        cls="lines"
      >
        <Costliest of={of} />
      </Section>
      <div class="right">
        <Waits of={of} />
        <Section title="Memory at the peak">
          <Memory of={of} />
        </Section>
        {of.data.run.processes > 1 && (
          <Section title="Processes" note={plural(of.data.run.threads, "thread")}>
            <ProcessList of={of} />
          </Section>
        )}
      </div>
    </div>
  );
}
