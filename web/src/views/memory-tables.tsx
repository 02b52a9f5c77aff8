// SPDX-License-Identifier: Apache-2.0
// The tables of the view of memory.
import type { JSX } from "preact";
import { bytes, column, count, share } from "../base/format";
import { adjust, go } from "../base/route";
import type { Copy, CopyPair, Growth, Leak, MemoryLine, NeedlessCopy } from "../data";
import { fraction } from "../data/findings";
import { profile, rows } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { Meter, Place, placeText } from "../ui/parts";

interface Placed {
  file: string | null;
  line: number | null;
  function?: string | null;
  library?: string | null;
}

const place: Column<Placed> = {
  key: "place",
  title: "line",
  width: 130,
  grow: 1,
  rank: 0,
  cell: (row) => <Place file={row.file} line={row.line} quiet />,
  sort: (row) => placeText(row.file, row.line),
};
const inside: Column<Placed> = {
  key: "function",
  title: "in",
  width: 130,
  grow: 1,
  rank: 6,
  cell: (row) => (
    <span class="dim">{[row.function, row.library && `of ${row.library}`].filter(Boolean).join(" ")}</span>
  ),
};

export function amount<Row>(key: keyof Row & string, title: string, rank: number, whole = 0): Column<Row> {
  const value = (row: Row) => row[key] as number | null;
  return {
    key,
    title,
    width: whole ? 100 : 88,
    rank,
    number: true,
    cell: (row) =>
      whole ? <Meter value={value(row)} whole={whole} text={bytes(value(row))} /> : bytes(value(row)),
    sort: value,
  };
}

/** An interval of a figure that is exact says nothing. */
function interval(low: number | null, high: number | null): string {
  return low === null || high === null || low === high ? "" : `${bytes(low)} – ${bytes(high)}`;
}

export function plain<Row>(
  key: string,
  title: string,
  width: number,
  rank: number,
  show: (row: Row) => string,
  sort?: (row: Row) => number | string | null,
): Column<Row> {
  return { key, title, width, rank, number: true, cell: show, sort };
}

const MEMORY_COLUMNS = (first: "peak_bytes" | "allocated_bytes", whole: number): Column<MemoryLine>[] => [
  place,
  ...(first === "peak_bytes"
    ? [
        amount<MemoryLine>("peak_bytes", "at peak", 0, whole),
        plain<MemoryLine>("i", "95 %", 130, 5, (row) => interval(row.peak_low, row.peak_high)),
        amount<MemoryLine>("allocated_bytes", "allocated", 2),
      ]
    : [
        amount<MemoryLine>("allocated_bytes", "allocated", 0, whole),
        plain<MemoryLine>("i", "95 %", 130, 5, (row) => interval(row.allocated_low, row.allocated_high)),
        amount<MemoryLine>("peak_bytes", "at peak", 2),
      ]),
  amount<MemoryLine>("average_bytes", "average", 4),
  amount<MemoryLine>("growth_bytes", "not freed", 3),
  plain<MemoryLine>(
    "python",
    "Python",
    64,
    5,
    (row) => share(row.python_share, 0),
    (row) => row.python_share,
  ),
  inside,
];

const LEAK_COLUMNS: Column<Leak>[] = [
  place,
  plain(
    "rate",
    "rate",
    92,
    0,
    (row) => `${bytes(row.rate_bytes_per_s)}/s`,
    (row) => row.rate_bytes_per_s,
  ),
  amount<Leak>("leaked_bytes", "leaked", 1),
  plain(
    "score",
    "score",
    58,
    2,
    (row) => row.score?.toFixed(2) ?? "–",
    (row) => row.score,
  ),
  {
    key: "holder",
    title: "held by",
    width: 220,
    grow: 2,
    rank: 3,
    cell: (row) => <span title={row.holder ?? ""}>{row.holder ?? "not found"}</span>,
  },
  plain("freed", "freed", 80, 4, (row) => `${count(row.frees)} of ${count(row.mallocs)}`),
];

const GROWTH_COLUMNS = (whole: number): Column<Growth>[] => [
  place,
  amount<Growth>("growth_bytes", "not freed", 0, whole),
  plain("i", "95 %", 130, 3, (row) => interval(row.growth_low, row.growth_high)),
  plain(
    "rate",
    "rate",
    92,
    2,
    (row) => `${bytes(row.rate_bytes_per_s)}/s`,
    (row) => row.rate_bytes_per_s,
  ),
  amount<Growth>("kept_bytes", "kept long", 4),
  plain(
    "score",
    "score",
    58,
    5,
    (row) => row.score?.toFixed(2) ?? "–",
    (row) => row.score,
  ),
  inside,
];

const COPY_COLUMNS = (whole: number): Column<Copy>[] => [
  place,
  amount<Copy>("bytes", "copied", 0, whole),
  plain(
    "rate",
    "rate",
    92,
    1,
    (row) => `${bytes(row.bytes_per_s)}/s`,
    (row) => row.bytes_per_s,
  ),
  { key: "estimate", title: "method", width: 76, rank: 2, cell: (row) => row.estimate },
  plain("i", "95 %", 130, 4, (row) => interval(row.bytes_low, row.bytes_high)),
  inside,
];

const NEEDLESS_COLUMNS: Column<NeedlessCopy>[] = [
  place,
  plain(
    "cpu",
    "CPU s",
    64,
    0,
    (row) => column(row.cpu_s),
    (row) => row.cpu_s,
  ),
  amount<NeedlessCopy>("bytes", "bytes", 2),
  plain(
    "part",
    "needless",
    88,
    1,
    (row) => fraction(row.needless_share, row.needless_low, row.needless_high),
    (row) => row.needless_share,
  ),
  { key: "verdict", title: "verdict", width: 84, rank: 1, cell: (row) => row.verdict ?? "–" },
  plain(
    "copies",
    "followed",
    72,
    4,
    (row) => count(row.copies),
    (row) => row.copies,
  ),
  inside,
];

const PAIR_COLUMNS = (whole: number): Column<CopyPair>[] => [
  {
    key: "library",
    title: "copied by",
    width: 110,
    grow: 1,
    rank: 0,
    cell: (row) => row.library ?? "–",
    sort: (row) => row.library,
  },
  {
    key: "caller",
    title: "for",
    width: 110,
    grow: 1,
    rank: 0,
    cell: (row) => row.caller ?? "–",
    sort: (row) => row.caller,
  },
  amount<CopyPair>("bytes", "copied", 0, whole),
  plain(
    "rate",
    "rate",
    92,
    1,
    (row) => `${bytes(row.bytes_per_s)}/s`,
    (row) => row.bytes_per_s,
  ),
  { key: "estimate", title: "method", width: 76, rank: 2, cell: (row) => row.estimate },
];

function most<Row>(all: Row[], of: (row: Row) => number | null): number {
  return all.reduce((sum, row) => Math.max(sum, of(row) ?? 0), 0);
}

function Lines<Row extends object>({
  label,
  all,
  columns,
  empty,
}: {
  label: string;
  all: Row[];
  columns: Column<Row>[];
  empty: string;
}): JSX.Element {
  const key = (row: Row) => ("rank" in row ? `${row.rank}` : "");
  const placed = (row: Row) => row as Row & Placed;
  return (
    <Grid
      label={label}
      columns={columns}
      rows={all}
      id={key}
      onCurrent={(row) => adjust({ line: placed(row).line ? `${placed(row).file}:${placed(row).line}` : "" })}
      onOpen={(row) =>
        placed(row).line && go("source", { file: placed(row).file ?? "", line: `${placed(row).line}` })
      }
      empty={empty}
    />
  );
}

export function MemoryTable({ which }: { which: string }): JSX.Element {
  const { data } = profile();
  if (which === "leaks")
    return (
      <Lines
        label="Leaks"
        all={rows<Leak>(data.leaks)}
        columns={LEAK_COLUMNS}
        empty="No line leaks: what grew was freed, or stopped growing."
      />
    );
  if (which === "growth") {
    const all = rows<Growth>(data.growth);
    return (
      <Lines
        label="Memory that was not freed"
        all={all}
        columns={GROWTH_COLUMNS(most(all, (row) => row.growth_bytes))}
        empty="All sampled memory was freed."
      />
    );
  }
  if (which === "copies") {
    const all = rows<Copy>(data.copies);
    return (
      <Lines
        label="Copies"
        all={all}
        columns={COPY_COLUMNS(most(all, (row) => row.bytes))}
        empty="No copies of weight were seen."
      />
    );
  }
  if (which === "needless")
    return (
      <Lines
        label="Needless copies"
        all={rows<NeedlessCopy>(data.needless_copies)}
        columns={NEEDLESS_COLUMNS}
        empty="No copy was followed to its end."
      />
    );
  if (which === "libraries") {
    const all = rows<CopyPair>(data.copy_pairs);
    return (
      <Lines
        label="Copies by library"
        all={all}
        columns={PAIR_COLUMNS(most(all, (row) => row.bytes))}
        empty="No library copied anything of weight."
      />
    );
  }
  const isPeak = which === "peak";
  const all = rows<MemoryLine>(isPeak ? data.peak : data.memory);
  const whole = most(all, (row) => (isPeak ? row.peak_bytes : row.allocated_bytes));
  return (
    <Lines
      label={isPeak ? "Memory at the peak" : "Allocated memory"}
      all={all}
      columns={MEMORY_COLUMNS(isPeak ? "peak_bytes" : "allocated_bytes", whole)}
      empty="Memory was not sampled in this run."
    />
  );
}
