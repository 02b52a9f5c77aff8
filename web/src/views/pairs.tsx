// SPDX-License-Identifier: Apache-2.0
// Two accesses that met: the call path of the first and of the second, side by side from where they part.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { baseName, bytes, column, count, duration, plural } from "../base/format";
import { adjust, param } from "../base/route";
import type { Finding, Pair, PathFrame } from "../data";
import { fraction } from "../data/findings";
import { trunkLength } from "../data/paths";
import { profile, rows } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { Empty, Facts, Meter, Place, placeText } from "../ui/parts";

function FrameItem({ frame }: { frame: PathFrame }): JSX.Element {
  const where = frame.library ? baseName(frame.library) : null;
  return (
    <li class={frame.kind}>
      <span
        class={`mark ${frame.kind === "native" ? "native" : frame.library ? "library" : "own"}`}
        aria-hidden="true"
      />
      <span class="name">
        {frame.function ?? (frame.offset === null ? "(no name known)" : `0x${frame.offset.toString(16)}`)}
      </span>
      {frame.file ? <Place file={frame.file} line={frame.line} /> : <span class="dim">{where ?? ""}</span>}
    </li>
  );
}

function Paths({ pair }: { pair: Pair }): JSX.Element {
  const first = pair.first_path ?? [];
  const second = pair.second_path ?? [];
  if (first.length === 0 && second.length === 0)
    return <Empty>The call paths of this pair were not kept.</Empty>;
  const trunk = trunkLength(first, second);
  const ends = { first: first.slice(trunk), second: second.slice(trunk) };
  return (
    <div class="paths">
      {trunk > 0 && (
        <section class="trunk">
          <h2>{plural(trunk, "frame")} of both, outermost first</h2>
          <ol>
            {first.slice(0, trunk).map((frame) => (
              <FrameItem frame={frame} />
            ))}
          </ol>
        </section>
      )}
      {ends.first.length + ends.second.length === 0 && (
        <p class="dim">Both accesses were made there: by the same call path to the end.</p>
      )}
      {(ends.first.length + ends.second.length > 0 ? (["first", "second"] as const) : []).map((which) => (
        <section class="end">
          <h2>{which === "first" ? `First ${pair.kind}` : `Then the ${pair.kind} of the same`}</h2>
          {ends[which].length > 0 ? (
            <ol>
              {ends[which].map((frame) => (
                <FrameItem frame={frame} />
              ))}
            </ol>
          ) : (
            <p class="dim">the same place</p>
          )}
        </section>
      ))}
    </div>
  );
}

function columnsOf(most: number): Column<Pair>[] {
  return [
    {
      key: "place",
      title: "line",
      width: 130,
      grow: 1,
      rank: 0,
      cell: (row) => <Place file={row.file} line={row.line} quiet />,
      sort: (row) => placeText(row.file, row.line),
    },
    {
      key: "second",
      title: "with",
      width: 130,
      grow: 1,
      rank: 2,
      cell: (row) => <Place file={row.second_file} line={row.second_line} quiet />,
      sort: (row) => placeText(row.second_file, row.second_line),
    },
    {
      key: "wasted",
      title: "wasted s",
      width: 96,
      rank: 0,
      number: true,
      cell: (row) => <Meter value={row.wasted_s} whole={most} text={column(row.wasted_s)} />,
      sort: (row) => row.wasted_s,
    },
    {
      key: "redundant",
      title: "redundant",
      width: 92,
      rank: 1,
      number: true,
      cell: (row) => fraction(row.redundant_fraction, row.fraction_low, row.fraction_high),
      sort: (row) => row.redundant_fraction,
    },
    { key: "kind", title: "kind", width: 56, rank: 3, cell: (row) => row.kind },
    {
      key: "traps",
      title: "seen",
      about: "Comparisons",
      width: 60,
      rank: 4,
      number: true,
      cell: (row) => count(row.traps),
      sort: (row) => row.traps,
    },
    { key: "weight", title: "weight", width: 64, rank: 5, cell: (row) => row.severity },
    {
      key: "native",
      title: "inside",
      width: 170,
      grow: 1,
      rank: 6,
      cell: (row) => <span class="dim">{row.native_function ?? ""}</span>,
    },
  ];
}

/** Those of one finding, or all. */
function chosen(all: Pair[]): { pairs: Pair[]; finding: Finding | null } {
  const number = param("finding");
  const finding = number ? rows<Finding>(profile().data.findings)[Number(number)] : undefined;
  if (!finding) return { pairs: all, finding: null };
  const is = (file: string | null, line: number | null) => file === finding.file && line === finding.line;
  return {
    pairs: all.filter((pair) => is(pair.file, pair.line) || is(pair.second_file, pair.second_line)),
    finding,
  };
}

export function Pairs(): JSX.Element {
  const { data } = profile();
  const all = useMemo(() => rows<Pair>(data.pairs), [data]);
  const { pairs, finding } = chosen(all);
  const most = all.reduce((sum, pair) => Math.max(sum, pair.wasted_s ?? 0), 0);
  const columns = useMemo(() => columnsOf(most), [most]);
  const pair = pairs.find((one) => `${one.rank}` === param("pair")) ?? pairs[0];
  if (all.length === 0)
    return (
      <Empty>
        No two accesses met: {data.run.sampler_note ?? "no native code did work again that was watched"}.
      </Empty>
    );
  return (
    <div class="view pairs-view">
      {finding && (
        <p class="status">
          <span>
            Pairs of {placeText(finding.file, finding.line)}: {finding.category}
          </span>
          <button type="button" class="link" onClick={() => adjust({ finding: "", pair: "" })}>
            All pairs
          </button>
        </p>
      )}
      <Grid
        label="Pairs of accesses"
        columns={columns}
        rows={pairs}
        id={(row) => `${row.rank}`}
        current={pair ? `${pair.rank}` : null}
        onCurrent={(row) => adjust({ pair: `${row.rank}` })}
        height={9}
        empty="No pair of this finding was kept."
      />
      {pair && (
        <div class="pair">
          <Facts
            facts={[
              [
                "redundant",
                `${fraction(pair.redundant_fraction, pair.fraction_low, pair.fraction_high)} of ${plural(pair.traps, "comparison")}`,
              ],
              ["between the two", duration(pair.gap_s)],
              ["what", pair.memory ?? "not known"],
              ...(pair.bytes ? ([["bytes", bytes(pair.bytes)]] as [string, string][]) : []),
              [
                "inside",
                [pair.native_function, pair.native_library && baseName(pair.native_library)]
                  .filter(Boolean)
                  .join(" of ") || "not known",
              ],
            ]}
          />
          <Paths pair={pair} />
        </div>
      )}
    </div>
  );
}
