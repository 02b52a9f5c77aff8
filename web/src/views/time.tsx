// SPDX-License-Identifier: Apache-2.0
// What happened when: a track for each process and thread. The period that is chosen here is that of every view.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytes, clock, column, seconds, share } from "../base/format";
import type { PageData, Process, Slice, Thread } from "../data";
import { chooseOf, choosePeriod, part } from "../data/filter";
import { happened } from "../data/happened";
import { profile, rows } from "../data/profile";
import { GROUP_NAMES, GROUPS, type GroupTrack, groupTrack, mostBySlice } from "../data/slice-waits";
import { mostOf } from "../data/waits";
import { highest, total, TRACK_KINDS, type Track, type TrackKind, type Tracks, tracks } from "../data/tracks";
import { type Column, Grid } from "../ui/grid";
import { Empty, Legend, Place, Section } from "../ui/parts";
import { TrackCanvas } from "../ui/track";
import { commandName, threadName } from "./names";

interface Row {
  id: string;
  process: Process;
  thread: Thread | null;
  track: Track;
  level: number;
  threads: number;
}

const TICKS = 6;

const WIDE_PX = 1100;

/** What two decimals show: a column without so much is left out. */
const SHOWN_S = 0.005;

function rowsOf(all: Tracks): Row[] {
  const { data } = profile();
  const threads = rows<Thread>(data.threads);
  return rows<Process>(data.processes).flatMap((process) => {
    const track = all.byProcess.get(process.process);
    if (!track) return [];
    const below = threads.flatMap((thread, index) => {
      const own = all.byThread.get(index);
      return thread.process === process.process && own
        ? [{ id: `${process.process}.${thread.thread}`, process, thread, track: own, level: 1, threads: 0 }]
        : [];
    });
    return [
      { id: `${process.process}`, process, thread: null, track, level: 0, threads: below.length },
      ...below,
    ];
  });
}

/** Known of the whole run only. */
function causeColumn(): Column<Row>[] {
  const { data } = profile();
  const most = (row: Row) => mostOf(data, row.process.process, row.thread?.thread ?? null);
  if (!data.thread_waits.cause.some((cause) => cause !== "unknown")) return [];
  return [
    {
      key: "cause",
      title: "most for",
      width: 86,
      rank: 3,
      about: "What it waited for most, and the part of its waiting",
      cell: (row) => {
        const found = most(row);
        return found ? <span class="dim">{`${found[0]} ${share(found[1], 0)}`}</span> : "";
      },
    },
  ];
}

function trackColumns(all: Tracks): Column<Row>[] {
  const { period } = part.value;
  const sum = (row: Row, ...kinds: TrackKind[]) =>
    column(kinds.reduce((all_s, kind) => all_s + total(row.track, kind, all, period), 0));
  const isSeen = (kind: TrackKind) => total(all.all, kind, all, period) >= SHOWN_S;
  const wait: Column<Row> = {
    key: "wait",
    title: "wait s",
    width: 68,
    rank: 2,
    number: true,
    cell: (row) => sum(row, "wait"),
  };
  const delay: Column<Row> = {
    key: "delay",
    title: "delay s",
    width: 68,
    rank: 4,
    number: true,
    about: "Ready to run, without a processor",
    cell: (row) => sum(row, "delay"),
  };
  return [
    {
      key: "name",
      title: "process, thread",
      width: innerWidth >= WIDE_PX ? 210 : 150, // names of threads begin alike
      rank: 0,
      cell: (row) => (
        <span class={row.thread ? "name" : "name strong"}>
          {row.thread ? threadName(row.thread) : commandName(row.process)}
        </span>
      ),
    },
    {
      key: "track",
      title: "course",
      width: 120,
      grow: 1,
      rank: 0,
      cell: (row) => (
        <TrackCanvas
          track={row.track}
          kinds={TRACK_KINDS}
          of={all}
          high={row.thread ? all.width_s : Math.max(all.width_s, highest(row.track))}
          height={22}
          period={period}
        />
      ),
    },
    {
      key: "cpu",
      title: "CPU s",
      width: 68,
      rank: 1,
      number: true,
      cell: (row) => sum(row, "python", "native", "system"),
    },
    ...(isSeen("wait") ? [wait, ...(period ? [] : causeColumn())] : []),
    ...(isSeen("delay") ? [delay] : []),
  ];
}

/** From and to, for the keyboard. */
function PeriodFields({ all }: { all: Tracks }): JSX.Element {
  const { period } = part.value;
  const end = all.start_s + all.slices * all.width_s;
  const from = period?.from_s ?? all.start_s;
  const to = period?.to_s ?? end;
  const set = (a: number, b: number) =>
    Number.isFinite(a) && Number.isFinite(b) && a < b && choosePeriod({ from_s: a, to_s: b });
  const field = (label: string, value: number, change: (value: number) => void) => (
    <label>
      {label}
      <input
        type="number"
        min={all.start_s}
        max={end}
        step={all.width_s}
        value={Number(value.toFixed(3))}
        onChange={(event) => change(event.currentTarget.valueAsNumber)}
      />
    </label>
  );
  return (
    <div class="period">
      {field("from", from, (value) => set(value, to))}
      {field("to", to, (value) => set(from, value))}
      <span class="dim">s of the run; or drag over a track</span>
    </div>
  );
}

const garbage: Column<Slice> = {
  key: "gc",
  title: "gc s",
  about: "Part of the CPU time in which garbage was collected",
  width: 62,
  rank: 5,
  number: true,
  cell: (row) => column(row.gc_s),
  sort: (row) => row.gc_s,
};

const MAY_BE_ZERO = ["wait", "allocated", "copied"];

/** Columns of figures that are zero in all slices are left out. */
function figureColumns(data: PageData): Column<Slice>[] {
  const isSeen = (column: Column<Slice>) =>
    rows<Slice>(data.slices).some((row) => Number(column.sort?.(row) ?? 0) >= SHOWN_S);
  return sliceColumns.filter((column) => !MAY_BE_ZERO.includes(column.key) || isSeen(column));
}

/** What it waited for, and what else happened then; columns without anything are left out. */
function storyColumns(data: PageData, all: Tracks): Column<Slice>[] {
  const most = mostBySlice(data);
  const events = happened(data, all);
  const isKnown = [...most.values()].some(([cause]) => cause !== "unknown");
  const cause: Column<Slice> = {
    key: "cause",
    title: "waited for",
    about: "What threads waited for most in the slice, and the part of their waiting",
    width: 86,
    rank: 4,
    cell: (row) => {
      const found = most.get(row.slice);
      return found ? <span class="dim">{`${found[0]} ${share(found[1], 0)}`}</span> : "";
    },
  };
  const story: Column<Slice> = {
    key: "happened",
    title: "what happened then",
    width: 160,
    grow: 1,
    rank: 5,
    cell: (row) => <span title={events.get(row.slice)}>{events.get(row.slice) ?? ""}</span>,
  };
  const isCollected = rows<Slice>(data.slices).some((row) => (row.gc_s ?? 0) >= SHOWN_S);
  return [
    ...(isCollected ? [garbage] : []),
    ...(isKnown ? [cause] : []),
    ...(events.size > 0 ? [story] : []),
  ];
}

const sliceColumns: Column<Slice>[] = [
  {
    key: "t",
    title: "from",
    width: 72,
    rank: 0,
    number: true,
    cell: (row) => clock(row.t_s),
    sort: (row) => row.t_s,
  },
  { key: "wall", title: "length s", width: 74, rank: 5, number: true, cell: (row) => column(row.wall_s) },
  {
    key: "cpu",
    title: "CPU s",
    width: 68,
    rank: 1,
    number: true,
    cell: (row) => column(row.cpu_s),
    sort: (row) => row.cpu_s,
  },
  {
    key: "wait",
    title: "wait s",
    width: 68,
    rank: 2,
    number: true,
    cell: (row) => column(row.wait_s),
    sort: (row) => row.wait_s,
  },
  {
    key: "allocated",
    title: "allocated",
    width: 84,
    rank: 4,
    number: true,
    cell: (row) => bytes(row.allocated_bytes),
    sort: (row) => row.allocated_bytes,
  },
  {
    key: "copied",
    title: "copied",
    width: 84,
    rank: 6,
    number: true,
    cell: (row) => bytes(row.copy_bytes),
    sort: (row) => row.copy_bytes,
  },
  {
    key: "line",
    title: "costliest line of your code",
    width: 170,
    rank: 3,
    cell: (row) => (row.file === null ? "" : <Place file={row.file} line={row.line} quiet />),
  },
];

/** Waiting by its causes, of all threads. */
function Causes({ track, all }: { track: GroupTrack; all: Tracks }): JSX.Element {
  const shown = GROUPS.filter((group) => track[group].some((value) => value > 0));
  return (
    <div class="causes-over-time">
      <div class="caption">
        <strong>What threads waited for</strong>
        <ul class="legend">
          {shown.map((group) => (
            <li>
              <span class={`dot cause-${group}`} aria-hidden="true" />
              <span class="name">{GROUP_NAMES[group]}</span>
              <span class="num">{seconds(track[group].reduce((sum, value) => sum + value, 0))}</span>
            </li>
          ))}
        </ul>
      </div>
      <TrackCanvas
        track={Object.fromEntries(shown.map((group) => [`cause-${group}`, track[group]]))}
        kinds={shown.map((group) => `cause-${group}`)}
        of={all}
        high={highest(track)}
        height={56}
        period={part.value.period}
      />
    </div>
  );
}

function Axis({ all }: { all: Tracks }): JSX.Element {
  const whole = all.slices * all.width_s;
  return (
    <div class="axis" aria-hidden="true">
      {Array.from({ length: TICKS + 1 }, (_, i) => (
        <span style={{ left: `${(100 * i) / TICKS}%` }}>{clock(all.start_s + (whole * i) / TICKS)}</span>
      ))}
    </div>
  );
}

export function Time(): JSX.Element {
  const { data } = profile();
  const all = useMemo(() => tracks(data), [data]);
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const every = useMemo(() => (all ? rowsOf(all) : []), [all]);
  const causes = useMemo(() => (all ? groupTrack(data, all) : null), [data, all]);
  const slices = useMemo(() => (all ? [...figureColumns(data), ...storyColumns(data, all)] : []), [data, all]);
  if (!all) return <Empty>The profile has no slices of time: what happened when is not known.</Empty>;
  const { period } = part.value;
  const shown = every.filter((row) => row.level === 0 || !closed.has(`${row.process.process}`));
  return (
    <div class="view time-view">
      <div class="tools">
        <PeriodFields all={all} />
        <Legend kinds={["python", "native", "system", "wait", "delay"]} />
      </div>
      <div class="overview">
        <TrackCanvas track={all.all} kinds={TRACK_KINDS} of={all} high={highest(all.all)} height={72} period={period} />
        <Axis all={all} />
      </div>
      {causes && <Causes track={causes} all={all} />}
      <Grid
        label="Tracks of processes and threads"
        columns={trackColumns(all)}
        rows={shown}
        id={(row) => row.id}
        branches={{
          level: (row) => row.level,
          isOpen: (row) => (row.threads > 0 ? !closed.has(row.id) : null),
          toggle: (row) => {
            const next = new Set(closed);
            if (!next.delete(row.id)) next.add(row.id);
            setClosed(next);
          },
        }}
        onOpen={(row) => chooseOf(row.process.process, row.thread?.thread ?? null)}
        height={10}
        empty="No process has a track."
      />
      <Section title="Slices" note="Enter chooses one as the period">
        <Grid
          label="Slices of time"
          columns={slices}
          rows={rows<Slice>(data.slices)}
          id={(row) => `${row.slice}`}
          onOpen={(row) => choosePeriod({ from_s: row.t_s, to_s: row.t_s + (row.wall_s || all.width_s) })}
          empty="The profile has no slices."
        />
      </Section>
    </div>
  );
}
