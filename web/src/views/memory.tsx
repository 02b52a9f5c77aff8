// SPDX-License-Identifier: Apache-2.0
// Memory: its course, what was live at the peak, what leaks and what retains it, what is copied.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { bytes, clock } from "../base/format";
import { adjust, param } from "../base/route";
import type { Heap, Leak, LinePoint, MemoryPoint } from "../data";
import { resampled } from "../data/curves";
import { part } from "../data/filter";
import { profile, rows } from "../data/profile";
import { Curve, type Line } from "../ui/curve";
import { type Column, Grid } from "../ui/grid";
import { Empty, Facts, Pick, Strip } from "../ui/parts";
import { amount, MemoryTable, plain } from "./memory-tables";

const TABLES = [
  { value: "peak", title: "At the peak" },
  { value: "leaks", title: "Leaks" },
  { value: "growth", title: "Not freed" },
  { value: "allocated", title: "Allocated" },
  { value: "copies", title: "Copies" },
  { value: "needless", title: "Needless copies" },
  { value: "libraries", title: "Copies by library" },
];

const POINT_COLUMNS: Column<MemoryPoint>[] = [
  plain(
    "t",
    "time",
    80,
    0,
    (row) => clock(row.t_s),
    (row) => row.t_s,
  ),
  amount<MemoryPoint>("python_bytes", "Python", 0),
  amount<MemoryPoint>("native_bytes", "native", 0),
  plain(
    "heap",
    "heap",
    88,
    2,
    (row) => bytes(row.python_bytes + row.native_bytes),
    (row) => row.python_bytes + row.native_bytes,
  ),
  amount<MemoryPoint>("rss_bytes", "resident", 1),
  plain("rest", "above the heap", 110, 3, (row) =>
    row.rss_bytes === null ? "–" : bytes(Math.max(0, row.rss_bytes - row.python_bytes - row.native_bytes)),
  ),
];

function curveOf(process: number, chosen: string) {
  const of = profile();
  const points = rows<MemoryPoint>(of.data.memory_timeline).filter((point) => point.process === process);
  const times = points.map((point) => point.t_s);
  const lines: Line[] = [
    { title: "resident", colour: "rss", values: points.map((point) => point.rss_bytes) },
    {
      title: "heap",
      colour: "heap",
      filled: true,
      values: points.map((point) => point.python_bytes + point.native_bytes),
    },
    { title: "of it Python", colour: "python", values: points.map((point) => point.python_bytes) },
  ];
  const line = rows<LinePoint>(of.data.line_timeline).filter(
    (point) => point.process === process && `${of.text(point.file)}:${point.line}` === chosen,
  );
  if (line.length > 1)
    lines.push({ title: chosen.split("/").pop() ?? chosen, colour: "hot", values: resampled(times, line) });
  return { points, times, lines };
}

function HeapFacts({ heap }: { heap: Heap }): JSX.Element {
  return (
    <Facts
      facts={[
        ["peak", `${bytes(heap.peak_bytes)}${heap.peak_t_s === null ? "" : ` at ${clock(heap.peak_t_s)}`}`],
        ["of it Python", bytes(heap.peak_python_bytes)],
        ["resident at most", bytes(heap.rss_peak_bytes)],
        ["allocated in all", bytes(heap.allocated_bytes)],
        ["freed in all", bytes(heap.freed_bytes)],
        ["allocator", heap.allocator ?? "–"],
      ]}
    />
  );
}

export function Memory(): JSX.Element {
  const { data } = profile();
  const heaps = useMemo(
    () => rows<Heap>(data.heap).sort((a, b) => (b.peak_bytes ?? 0) - (a.peak_bytes ?? 0)),
    [data],
  );
  const wanted = part.value.process ?? Number(param("process"));
  const heap = heaps.find((one) => one.process === wanted) ?? heaps[0];
  const which = param("table") || (data.leaks.rank.length > 0 ? "leaks" : "peak");
  const leak = which === "leaks" ? rows<Leak>(data.leaks)[0] : undefined;
  const chosen = param("line") || (leak ? `${leak.file}:${leak.line}` : "");
  const curve = useMemo(() => (heap ? curveOf(heap.process, chosen) : null), [heap, chosen]);
  const figures = param("figures") === "1";
  if (!heap || !curve) return <Empty>Memory was not measured in this run.</Empty>;
  const mark = heap.peak_t_s === null ? null : { t_s: heap.peak_t_s, title: "peak" };
  return (
    <div class="view memory-view">
      <div class="tools">
        {heaps.length > 1 && (
          <Pick
            label="Process"
            value={`${heap.process}`}
            choices={heaps.map((one) => ({
              value: `${one.process}`,
              title: `pid ${one.pid}: ${bytes(one.peak_bytes)}`,
            }))}
            onChange={(process) => adjust({ process })}
          />
        )}
        <HeapFacts heap={heap} />
      </div>
      {heap.note && <p class="dim">{heap.note}</p>}
      {curve.times.length > 1 ? (
        <Curve
          label="Memory over time; “Figures of the curve” has it as a table"
          times={curve.times}
          lines={curve.lines}
          height={190}
          mark={mark}
          period={part.value.period}
        />
      ) : (
        <Empty>The process was too short for a curve.</Empty>
      )}
      <div class="tools">
        <Strip
          label="Table"
          choices={[...TABLES, { value: "figures", title: "Figures of the curve" }]}
          value={figures ? "figures" : which}
          onChange={(table) => adjust(table === "figures" ? { figures: "1" } : { table, figures: "" })}
        />
      </div>
      {figures ? (
        <Grid
          label="Figures of the curve"
          columns={POINT_COLUMNS}
          rows={curve.points}
          id={(row) => `${row.t_s}`}
          empty="The curve has no points."
        />
      ) : (
        <MemoryTable which={which} />
      )}
      {part.value.period && (
        <p class="dim">
          These tables are of the whole run: the peak, leaks and growth are not known by period.
        </p>
      )}
    </div>
  );
}
