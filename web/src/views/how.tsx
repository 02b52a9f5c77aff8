// SPDX-License-Identifier: Apache-2.0
// How the figures came about: what measured, what it cost, what was lost, what the page does not have.
import type { JSX } from "preact";
import { bytes, column, count, seconds, share } from "../base/format";
import type { Drop, Environment, Overhead, OverheadSlice } from "../data";
import { profile, rows } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { samplesText } from "./names";
import { Empty, Facts, Section } from "../ui/parts";

const OVERHEAD: Column<Overhead>[] = [
  { key: "collector", title: "collector", width: 130, grow: 1, rank: 0, cell: (row) => row.collector },
  { key: "cpu", title: "CPU s", width: 72, rank: 1, number: true, cell: (row) => column(row.cpu_s) },
  {
    key: "share",
    title: "cost",
    about: "Of the program's own CPU time",
    width: 76,
    rank: 0,
    number: true,
    cell: (row) => share(row.measured_share, 2),
  },
  {
    key: "budget",
    title: "budget",
    width: 76,
    rank: 3,
    number: true,
    cell: (row) => share(row.budget_share),
  },
  {
    key: "rate",
    title: "samples/s",
    width: 86,
    rank: 2,
    number: true,
    cell: (row) => (row.rate ? count(row.rate) : "–"),
  },
  { key: "drops", title: "lost", width: 66, rank: 1, number: true, cell: (row) => count(row.drops) },
];

function spent(
  key: keyof OverheadSlice & `${string}_s`,
  title: string,
  about: string,
  rank: number,
): Column<OverheadSlice> {
  return { key, title, about, width: 84, rank, number: true, cell: (row) => column(row[key]) };
}

const SPENT: Column<OverheadSlice>[] = [
  { key: "t_s", title: "from s", width: 66, grow: 1, rank: 0, number: true, cell: (row) => count(row.t_s) },
  {
    key: "overhead_share",
    title: "cost",
    about: "Of the program's own CPU time in the slice",
    width: 76,
    rank: 0,
    number: true,
    cell: (row) => share(row.overhead_share, 1),
  },
  {
    key: "samples_per_s",
    title: "samples/s",
    about: "Samples of time in a second of CPU time",
    width: 86,
    rank: 1,
    number: true,
    cell: (row) => (row.samples_per_s === null ? "–" : count(Math.round(row.samples_per_s))),
  },
  spent("time_s", "samples s", "CPU time for samples of time", 2),
  spent("redundancy_s", "watches s", "CPU time for watches of memory accesses", 2),
  spent("memory_s", "memory s", "CPU time for sampled allocations", 3),
  spent("counting_s", "counting s", "CPU time for counted blocks", 4),
  spent("copies_s", "copies s", "CPU time for sampled copies", 5),
  spent("caches_s", "caches s", "CPU time for data that signals evicted", 4),
  spent("collection_s", "thread s", "CPU time of the collection thread", 2),
];

interface Counter {
  counter: string;
  value: number;
  is_drop: number;
}

/** One of the profiler's own tables: what is in use of it, and what it may grow to. */
interface OwnTable {
  name: string;
  used: number;
  room: number;
}

const OWN_TABLES: Column<OwnTable>[] = [
  { key: "name", title: "table", width: 130, grow: 1, rank: 0, cell: (row) => row.name },
  { key: "used", title: "in use", width: 90, rank: 0, number: true, cell: (row) => bytes(row.used) },
  { key: "room", title: "may grow to", width: 96, rank: 1, number: true, cell: (row) => bytes(row.room) },
];

const USED = "table_fill_";
const ROOM = "table_size_";

/** Counters of bytes are a table of their own: between numbers of events nobody would know their unit. */
function ownTables(counters: Counter[]): OwnTable[] {
  const of = new Map(counters.map((one) => [one.counter, one.value]));
  return counters
    .filter((one) => one.counter.startsWith(USED))
    .map((one) => one.counter.slice(USED.length))
    .map((name) => ({
      name: name.replaceAll("_", " "),
      used: of.get(USED + name) ?? 0,
      room: of.get(ROOM + name) ?? 0,
    }));
}

function events(counters: Counter[]): Counter[] {
  return counters.filter((one) => !one.counter.startsWith(USED) && !one.counter.startsWith(ROOM));
}

const COUNTERS: Column<Counter>[] = [
  {
    key: "counter",
    title: "counted in the profiler",
    width: 150,
    grow: 1,
    rank: 0,
    cell: (row) => (
      <span class={row.is_drop && row.value ? "strong" : ""}>{row.counter.replaceAll("_", " ")}</span>
    ),
    sort: (row) => row.counter,
  },
  {
    key: "value",
    title: "events",
    width: 100,
    rank: 0,
    number: true,
    cell: (row) => count(row.value),
    sort: (row) => row.value,
  },
];

const MEANS: Column<Counter> = {
  key: "drop",
  title: "means",
  width: 96,
  rank: 1,
  cell: (row) => (row.is_drop ? "lost samples" : ""),
};

const DROPS: Column<Drop>[] = [
  {
    key: "counter",
    title: "lost samples",
    width: 150,
    grow: 1,
    rank: 0,
    cell: (row) => row.counter.replaceAll("_", " "),
  },
  { key: "pid", title: "pid", width: 80, rank: 1, number: true, cell: (row) => `${row.pid}` },
  { key: "drops", title: "lost", width: 90, rank: 0, number: true, cell: (row) => count(row.drops) },
];

const ENVIRONMENT: Column<Environment>[] = [
  { key: "key", title: "environment", width: 150, grow: 1, rank: 0, cell: (row) => row.key },
  {
    key: "value",
    title: "value",
    width: 150,
    grow: 2,
    rank: 0,
    cell: (row) => <span title={row.value ?? ""}>{row.value ?? "–"}</span>,
  },
];

interface CutRow {
  table: string;
  rows: number;
  rows_total: number;
  order: string;
}

const CUT: Column<CutRow>[] = [
  {
    key: "table",
    title: "table",
    width: 110,
    grow: 1,
    rank: 0,
    cell: (row) => row.table.replaceAll("_", " ").replaceAll(".", ", "),
  },
  { key: "rows", title: "in the page", width: 76, rank: 0, number: true, cell: (row) => count(row.rows) },
  {
    key: "total",
    title: "in the profile",
    width: 84,
    rank: 1,
    number: true,
    cell: (row) => count(row.rows_total),
  },
  { key: "order", title: "first by", width: 100, grow: 1, rank: 2, cell: (row) => row.order },
];

// Of the run, with the collectors' rows.
function budget(of: Overhead[]): string {
  const allowed = of[0]?.budget_share;
  if (allowed === null || allowed === undefined) return "";
  return allowed > 0 ? `; the budget is ${share(allowed)}` : "; rates are fixed";
}

export function How(): JSX.Element {
  const of = profile();
  const { run, page } = of.data;
  const cut = Object.entries(of.data.cut ?? {}).map(([table, one]) => ({ table, ...one }));
  const overhead = rows<Overhead>(of.data.overhead);
  const slices = rows<OverheadSlice>(of.data.overhead_slices);
  const drops = rows<Drop>(of.data.drops);
  const counters = rows<Counter>(of.data.counters);
  const counted = events(counters);
  const tables = ownTables(counters);
  return (
    <div class="view how-view">
      <div class="columns">
        <div>
          <Section title="Measured">
            <Facts
              facts={[
                [
                  "overhead",
                  run.overhead_s === null
                    ? "not measured"
                    : `${share(run.overhead_share)} of the program's CPU time (${seconds(run.overhead_s)})${budget(overhead)}`,
                ],
                ["samples", samplesText(run)],
                ["lost samples", count(run.drops ?? 0)],
                ["clock", [run.clock, run.clock_note].filter(Boolean).join(": ")],
                ["accesses sampled by", [run.sampler, run.sampler_note].filter(Boolean).join(": ")],
                ["Python", run.python_version ?? "–"],
                ["pieprof", run.pieprof_version],
                ["started", run.started.replace("T", " ").replace("Z", " UTC")],
                ["profile", page.profile],
                [
                  "page",
                  `made ${page.made.replace("T", " ").replace("Z", " UTC")} by pieprof ${page.pieprof_version}; ${page.limit_bytes === null ? "served whole" : `at most ${bytes(page.limit_bytes)}`}`,
                ],
                ...(page.note ? ([["note", page.note]] as [string, string][]) : []),
              ]}
            />
          </Section>
          <Section title="Cost of each collector">
            <Grid
              label="Cost of each collector"
              columns={OVERHEAD.filter((one) => one.key !== "drops" || overhead.some((row) => row.drops))}
              rows={overhead}
              id={(row) => row.collector}
              height={12}
              empty="The cost was not measured."
            />
          </Section>
          <Section title="Cost over time">
            <Grid
              label="Cost over time"
              columns={SPENT}
              rows={slices}
              id={(row) => `${row.slice}`}
              height={10}
              empty="The cost over time is not in this profile."
            />
          </Section>
          <Section title="What the page leaves out">
            {cut.length > 0 ? (
              <Grid
                label="What the page leaves out"
                columns={CUT}
                rows={cut}
                id={(row) => row.table}
                height={10}
                empty=""
              />
            ) : (
              <Empty>Nothing: the page has all of the profile.</Empty>
            )}
          </Section>
        </div>
        <div>
          <Section title="Lost samples">
            {drops.length > 0 ? (
              <Grid
                label="Lost samples"
                columns={DROPS}
                rows={drops}
                id={(row) => `${row.process} ${row.counter}`}
                height={6}
                empty=""
              />
            ) : (
              <Empty>No sample was lost.</Empty>
            )}
          </Section>
          <Section title="Counters">
            <Grid
              label="Counters"
              columns={counted.some((row) => row.is_drop) ? [...COUNTERS, MEANS] : COUNTERS}
              rows={counted}
              id={(row) => row.counter}
              height={12}
              empty="The profile has no counters."
            />
          </Section>
          {tables.length > 0 && (
            <Section title="Tables of the profiler">
              <Grid
                label="Tables of the profiler"
                columns={OWN_TABLES}
                rows={tables}
                id={(row) => row.name}
                height={8}
                empty=""
              />
            </Section>
          )}
          <Section title="Environment">
            <Grid
              label="Environment"
              columns={ENVIRONMENT}
              rows={rows<Environment>(of.data.environment)}
              id={(row) => row.key}
              height={12}
              empty="The environment was not kept."
            />
          </Section>
        </div>
      </div>
    </div>
  );
}
