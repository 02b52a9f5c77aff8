// SPDX-License-Identifier: Apache-2.0
// Traced loops: the share of each call in the loop's body, with its interval, and the times of single calls.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { count, duration, plural } from "../base/format";
import { adjust, go, param } from "../base/route";
import type { Loop, LoopCall } from "../data";
import { fraction } from "../data/findings";
import { profile, rows } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { Empty, Facts, Pick, Place, placeText } from "../ui/parts";

/** The share as a bar, and its interval as a line over it. */
function Interval({ call }: { call: LoopCall }): JSX.Element {
  const part = (value: number | null) => `${100 * Math.max(0, Math.min(1, value ?? 0))}%`;
  const low = call.share_low ?? call.share ?? 0;
  const high = call.share_high ?? call.share ?? 0;
  return (
    <span class="interval" aria-hidden="true">
      <span
        class={`level ${call.kind === "python" ? "python" : call.kind === "native" ? "native" : "rest"}`}
        style={{ width: part(call.share) }}
      />
      <span
        class="whisker"
        style={{ left: part(low), width: `${100 * Math.max(0, Math.min(1, high) - Math.max(0, low))}%` }}
      />
    </span>
  );
}

const COLUMNS: Column<LoopCall>[] = [
  {
    key: "function",
    title: "call",
    width: 130,
    grow: 1,
    rank: 0,
    cell: (row) => <span class="name">{row.function ?? "(the loop's own code)"}</span>,
    sort: (row) => row.function,
  },
  { key: "bar", title: "interval", width: 150, rank: 4, cell: (row) => <Interval call={row} /> },
  {
    key: "share",
    title: "share",
    about: "Of the time in the loop's body, with its interval",
    width: 96,
    rank: 0,
    number: true,
    cell: (row) => fraction(row.share, row.share_low, row.share_high),
    sort: (row) => row.share,
  },
  {
    key: "place",
    title: "at",
    width: 130,
    rank: 3,
    cell: (row) => <Place file={row.file} line={row.line} quiet />,
  },
  {
    key: "calls",
    title: "calls",
    width: 80,
    rank: 2,
    number: true,
    cell: (row) => count(row.calls),
    sort: (row) => row.calls,
  },
  {
    key: "mean",
    title: "mean",
    width: 76,
    rank: 1,
    number: true,
    cell: (row) => duration(row.mean_s),
    sort: (row) => row.mean_s,
  },
  {
    key: "p50",
    title: "p50",
    width: 76,
    rank: 6,
    number: true,
    cell: (row) => duration(row.p50_s),
    sort: (row) => row.p50_s,
  },
  {
    key: "p95",
    title: "p95",
    width: 76,
    rank: 5,
    number: true,
    cell: (row) => duration(row.p95_s),
    sort: (row) => row.p95_s,
  },
  {
    key: "p99",
    title: "p99",
    width: 76,
    rank: 5,
    number: true,
    cell: (row) => duration(row.p99_s),
    sort: (row) => row.p99_s,
  },
  {
    key: "total",
    title: "total",
    width: 76,
    rank: 7,
    number: true,
    cell: (row) => duration(row.total_s),
    sort: (row) => row.total_s,
  },
  { key: "state", title: "state", width: 84, rank: 8, cell: (row) => row.state ?? "–" },
];

function keyOf(loop: { process: number; loop: number }): string {
  return `${loop.process}.${loop.loop}`;
}

function titleOf(loop: Loop): string {
  return `${placeText(loop.file, loop.line)} in ${loop.function ?? "?"}`;
}

export function Loops(): JSX.Element {
  const { data } = profile();
  const all = useMemo(() => rows<Loop>(data.loops), [data]);
  const loop = all.find((one) => keyOf(one) === param("loop")) ?? all[0];
  const calls = useMemo(
    () => rows<LoopCall>(data.loop_calls).filter((call) => loop && keyOf(call) === keyOf(loop)),
    [data, loop],
  );
  if (!loop) return <Empty>No loop was traced in this run: “pieprof --learn FILE:LINE” names one.</Empty>;
  return (
    <div class="view loops-view">
      <div class="tools">
        {all.length > 1 && (
          <Pick
            label="Loop"
            value={keyOf(loop)}
            choices={all.map((one) => ({
              value: keyOf(one),
              title: `${titleOf(one)}: ${duration(one.body_s)}`,
            }))}
            onChange={(value) => adjust({ loop: value })}
          />
        )}
        {all.length === 1 && <strong>{`Loop in ${loop.function ?? "?"}`}</strong>}
        <Place file={loop.file} line={loop.line} />
      </div>
      <Facts
        facts={[
          ["in its body", duration(loop.body_s)],
          ["iterations", `${count(loop.iterations)} in ${plural(loop.entries, "entry", "entries")}`],
          ["timed", `${count(loop.observed_iterations)} iterations`],
          [
            "sure",
            loop.decided_after === null
              ? "not yet"
              : `at ${Math.round(100 * (loop.confidence ?? 0.95))} % after ${count(loop.decided_after)} iterations`,
          ],
          ["policy", loop.policy ?? "–"],
        ]}
      />
      {loop.note && <p class="dim">{loop.note}</p>}
      <Grid
        label={`Calls of the loop ${titleOf(loop)}`}
        columns={COLUMNS}
        rows={calls}
        id={(row) => `${row.rank}`}
        onOpen={(row) => row.file && row.line && go("source", { file: row.file, line: `${row.line}` })}
        empty="No call was seen in the loop's body."
      />
    </div>
  );
}
