// SPDX-License-Identifier: Apache-2.0
// The processes of the run, who started them, how they ended, and their threads.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { bytes, column, count } from "../base/format";
import type { Process, Thread } from "../data";
import { chooseOf, part } from "../data/filter";
import { profile, rows } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { Bar, Facts, Legend, type Split } from "../ui/parts";
import { TaskList } from "./tasks";
import { commandName, endText, samplesText, threadName } from "./names";

interface Row {
  id: string;
  level: number;
  process: Process;
  thread: Thread | null;
  cost: Process | Thread;
  below: number;
}

function split(cost: Process | Thread): Split {
  return {
    python: cost.python_s,
    native: cost.native_s,
    system: cost.system_s,
    wait: cost.wait_s,
    delay: (cost.runnable_s ?? 0) + (cost.throttled_s ?? 0),
  };
}

function height(cost: Process | Thread): number {
  return (cost.cpu_s ?? 0) + (cost.wait_s ?? 0) + (cost.runnable_s ?? 0) + (cost.throttled_s ?? 0);
}

/** A process, its threads, then the processes that it started. */
function treeOf(processes: Process[], threads: Thread[]): Row[] {
  const found: Row[] = [];
  const known = new Set(processes.map((one) => one.process));
  const add = (process: Process, level: number) => {
    const own = threads.filter((thread) => thread.process === process.process);
    const children = processes.filter((one) => one.parent === process.process && one !== process);
    found.push({
      id: `${process.process}`,
      level,
      process,
      thread: null,
      cost: process,
      below: own.length + children.length,
    });
    for (const thread of own)
      found.push({
        id: `${process.process}.${thread.thread}`,
        level: level + 1,
        process,
        thread,
        cost: thread,
        below: 0,
      });
    for (const child of children) add(child, level + 1);
  };
  for (const process of processes) if (process.parent === null || !known.has(process.parent)) add(process, 0);
  return found;
}

function columnsOf(all: Row[]): Column<Row>[] {
  const whole = all.reduce((most, row) => Math.max(most, height(row.cost)), 0);
  const time = (key: "cpu_s" | "wait_s" | "wall_s", title: string, rank: number): Column<Row> => ({
    key,
    title,
    width: 72,
    rank,
    number: true,
    cell: (row) => column(row.cost[key]),
  });
  return [
    {
      key: "name",
      title: "process, thread",
      width: 150,
      grow: 1,
      rank: 0,
      cell: (row) => (
        <span
          class={row.thread ? "name" : "name strong"}
          title={row.thread ? threadName(row.thread) : (row.process.command ?? "")}
        >
          {row.thread
            ? `${threadName(row.thread)}${row.thread.threads > 1 ? ` × ${count(row.thread.threads)}` : ""}`
            : commandName(row.process)}
        </span>
      ),
    },
    {
      key: "bar",
      title: "split",
      width: 140,
      rank: 3,
      cell: (row) => <Bar split={split(row.cost)} whole={whole} />,
    },
    time("cpu_s", "CPU s", 0),
    time("wait_s", "wait s", 2),
    {
      key: "delay",
      title: "delay s",
      about: "Ready to run, without a processor",
      width: 72,
      rank: 6,
      number: true,
      cell: (row) => column(split(row.cost).delay ?? null),
    },
    time("wall_s", "wall s", 4),
    {
      key: "peak",
      title: "peak",
      width: 84,
      rank: 5,
      number: true,
      cell: (row) => (row.thread ? "" : bytes(row.process.peak_bytes)),
    },
    {
      key: "id",
      title: "pid, tid",
      width: 76,
      rank: 7,
      number: true,
      cell: (row) => <span class="dim">{row.thread ? (row.thread.tid ?? "–") : row.process.pid}</span>,
    },
    { key: "end", title: "end", width: 84, rank: 4, cell: (row) => (row.thread ? "" : endText(row.process)) },
  ];
}

function ProcessFacts({ process }: { process: Process }): JSX.Element {
  return (
    <section class="panel">
      <h2>
        {commandName(process)}
        <small>{`pid ${process.pid}${process.host ? ` on ${process.host}` : ""}`}</small>
      </h2>
      <Facts
        facts={[
          ["command", process.command ?? "not kept"],
          ["executable", process.executable ?? "–"],
          ["started", process.started.replace("T", " ").replace("Z", " UTC")],
          ["end", endText(process)],
          ["clock", [process.clock, process.clock_note].filter(Boolean).join(": ")],
          ["samples", samplesText(process)],
          ["accesses sampled by", [process.sampler, process.sampler_note].filter(Boolean).join(": ")],
        ]}
      />
    </section>
  );
}

export function Processes(): JSX.Element {
  const { data } = profile();
  const all = useMemo(() => treeOf(rows<Process>(data.processes), rows<Thread>(data.threads)), [data]);
  const [closed, setClosed] = useState<Set<string>>(new Set());
  const [current, setCurrent] = useState<string | null>(null);
  const columns = useMemo(() => columnsOf(all), [all]);
  const chosen =
    part.value.process === null
      ? null
      : part.value.thread === null
        ? `${part.value.process}`
        : `${part.value.process}.${part.value.thread}`;
  const shown: Row[] = [];
  let hiddenBelow = Number.POSITIVE_INFINITY;
  for (const row of all) {
    if (row.level > hiddenBelow) continue;
    hiddenBelow = closed.has(row.id) ? row.level : Number.POSITIVE_INFINITY;
    shown.push(row);
  }
  const at = all.find((row) => row.id === (current ?? chosen)) ?? all[0];
  return (
    <div class="view processes-view">
      <div class="tools">
        <Legend kinds={["python", "native", "system", "wait", "delay"]} />
        <span class="hint">Enter or double click: every view is about it</span>
      </div>
      <Grid
        label="Processes and threads"
        columns={columns}
        rows={shown}
        id={(row) => row.id}
        branches={{
          level: (row) => row.level,
          isOpen: (row) => (row.below > 0 ? !closed.has(row.id) : null),
          toggle: (row) => {
            const next = new Set(closed);
            if (!next.delete(row.id)) next.add(row.id);
            setClosed(next);
          },
        }}
        current={current ?? chosen}
        onCurrent={(row) => setCurrent(row.id)}
        onOpen={(row) => chooseOf(row.process.process, row.thread?.thread ?? null)}
        height={16}
        empty="The profile has no process."
      />
      <TaskList />
      {at && <ProcessFacts process={at.process} />}
    </div>
  );
}
