// SPDX-License-Identifier: Apache-2.0
// Tasks of asyncio, by their coroutine, with the names that they were given; nothing where no event loop ran.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { column, seconds } from "../base/format";
import { go } from "../base/route";
import { profile } from "../data/profile";
import { type NamedTime, type Task, tasks } from "../data/tasks";
import { type Column, Grid } from "../ui/grid";
import { Bar, Place, Section } from "../ui/parts";

const ROWS = 6;

/** "0.30 s CPU, 1.20 s waiting" */
const timesOf = (named: NamedTime) =>
  [
    named.cpu_s > 0 ? `${seconds(named.cpu_s)} CPU` : "",
    named.wait_s > 0 ? `${seconds(named.wait_s)} waiting` : "",
  ]
    .filter((text) => text !== "")
    .join(", ");

/** "worker-1: 0.30 s CPU, 1.20 s waiting; worker-2: 0.80 s waiting" */
const told = (row: Task) => row.names.map((named) => `${named.name}: ${timesOf(named)}`).join("; ");

const namesColumn: Column<Task> = {
  key: "names",
  title: "by name",
  about: "Names that the program gave its tasks, with their CPU time and what they waited",
  width: 170,
  grow: 1,
  rank: 5,
  cell: (row) => <span title={told(row)}>{told(row)}</span>,
};

function columnsOf(whole: number): Column<Task>[] {
  const { tree } = profile();
  const cpu = (row: Task) => row.python + row.native + row.system;
  return [
    {
      key: "name",
      title: "coroutine or callback",
      width: 150,
      grow: 1,
      rank: 0,
      cell: (row) => <span title={tree.name(row.fn)}>{tree.name(row.fn)}</span>,
    },
    {
      key: "place",
      title: "defined at",
      width: 140,
      rank: 3,
      cell: (row) => <Place file={tree.file(row.fn)} line={tree.firstLine(row.fn)} quiet />,
    },
    { key: "bar", title: "split", width: 140, rank: 4, cell: (row) => <Bar split={row} whole={whole} /> },
    {
      key: "cpu",
      title: "CPU s",
      width: 72,
      rank: 1,
      number: true,
      cell: (row) => column(cpu(row)),
      sort: cpu,
    },
    {
      key: "wait",
      title: "wait s",
      about: "Its part of what the idle loop waited",
      width: 72,
      rank: 2,
      number: true,
      cell: (row) => column(row.wait),
      sort: (row) => row.wait,
    },
  ];
}

export function TaskList(): JSX.Element | null {
  const { tree, data } = profile();
  const all = useMemo(() => tasks(tree, tree.whole, data), [tree, data]);
  const whole = all.reduce((most, row) => Math.max(most, row.python + row.native + row.system + row.wait), 0);
  const isNamed = all.some((row) => row.names.length > 0);
  const columns = useMemo(() => [...columnsOf(whole), ...(isNamed ? [namesColumn] : [])], [whole, isNamed]);
  if (all.length === 0) return null;
  return (
    <Section title="Tasks of asyncio" note="all tasks of a coroutine together">
      <Grid
        label="Tasks of asyncio by coroutine"
        columns={columns}
        rows={all}
        id={(row) => `${row.fn}`}
        onOpen={(row) =>
          go("source", { file: tree.file(row.fn) ?? "", line: `${tree.firstLine(row.fn) ?? ""}` })
        }
        height={ROWS}
        empty="No event loop ran."
      />
    </Section>
  );
}
