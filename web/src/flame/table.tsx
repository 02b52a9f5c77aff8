// SPDX-License-Identifier: Apache-2.0
// A merged tree as a table: equal to the picture, and what the keyboard moves in.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { share } from "../base/format";
import { cell, type Measure } from "../data/measures";
import { profile } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { Meter, Place } from "../ui/parts";
import { useNodes } from "./carry";
import type { Merged } from "./merge";

interface Props {
  label: string;
  merged: Merged;
  root?: number;
  measure: Measure;
  whole: number;
  current?: number | null;
  onCurrent?: (node: number) => void;
  onOpen?: (node: number) => void;
  height?: number;
  empty: string;
  /** Of a tree of lines: the place of each kind. */
  place?: (kind: number) => [string | null, number | null];
  hasSelf?: boolean;
}

/** What the user has folded and unfolded. */
interface Changed {
  root: number;
  open: Set<number>;
}

function moved(changed: Changed | null, to: (node: number) => number): Changed | null {
  const open = new Set([...(changed?.open ?? [])].map(to).filter((node) => node > 0));
  return changed && { root: to(changed.root), open };
}

/** Of all nodes those whose parents are open, in the order of the tree. */
function visible(merged: Merged, root: number, open: Set<number>): number[] {
  const rows: number[] = [];
  const pending = [...merged.children[root]].reverse();
  while (pending.length > 0) {
    const node = pending.pop()!;
    rows.push(node);
    if (open.has(node))
      for (let i = merged.children[node].length - 1; i >= 0; i--) pending.push(merged.children[node][i]);
  }
  return rows;
}

function levels(merged: Merged, root: number): Map<number, number> {
  const found = new Map<number, number>([[root, -1]]);
  for (let node = 1; node < merged.parent.length; node++) {
    const above = found.get(merged.parent[node]);
    if (above !== undefined && node !== root) found.set(node, above + 1);
  }
  return found;
}

/** The way to where the time goes is open at first: down to a node that is no longer most of the one above. */
export function hotPath(merged: Merged, root: number): Set<number> {
  const open = new Set<number>();
  let node = merged.children[root][0];
  while (node !== undefined && merged.children[node].length > 0 && open.size < 30) {
    open.add(node);
    const next = merged.children[node][0];
    if (merged.total[next] < 0.5 * merged.total[node]) break;
    node = next;
  }
  return open;
}

function defaultPlace(merged: Merged) {
  return (kind: number): [string | null, number | null] => {
    const fn = merged.kinds.fns[kind];
    const { tree } = profile();
    return fn < 0 || tree.isNative(fn) ? [null, null] : [tree.file(fn), tree.firstLine(fn)];
  };
}

export function MergedTable(props: Props): JSX.Element {
  const { merged, measure, whole } = props;
  const root = props.root ?? 0;
  const [changed, setChanged] = useNodes<Changed | null>(merged, null, moved);
  const hot = useMemo(() => hotPath(merged, root), [merged, root]);
  let open = changed?.root === root ? changed.open : hot;
  if (props.current) {
    // What is chosen in the picture comes into sight.
    const above: number[] = [];
    for (let node = merged.parent[props.current]; node > 0 && node !== root; node = merged.parent[node])
      above.push(node);
    if (above.some((node) => !open.has(node))) open = new Set([...open, ...above]);
  }
  const rows = useMemo(() => visible(merged, root, open), [merged, root, open]);
  const level = useMemo(() => levels(merged, root), [merged, root]);
  const placeOf = props.place ?? defaultPlace(merged);

  const columns: Column<number>[] = [
    {
      key: "name",
      title: "Function",
      width: 150,
      grow: 1,
      rank: 0,
      cell: (node) => {
        const kind = merged.kind[node];
        return (
          <>
            <span class={`mark ${merged.kinds.colours[kind]}`} aria-hidden="true" />
            <span class="name" title={merged.kinds.labels[kind]}>
              {merged.kinds.labels[kind]}
            </span>
          </>
        );
      },
    },
    {
      key: "total",
      title: measure.head,
      about: `${measure.title}, with all below it`,
      width: 92,
      rank: 1,
      number: true,
      cell: (node) => (
        <Meter value={merged.total[node]} whole={whole} text={cell(measure.unit, merged.total[node])} />
      ),
    },
    {
      key: "share",
      title: "share",
      about: "Part of all that is chosen",
      width: 66,
      rank: 2,
      number: true,
      cell: (node) => share(whole > 0 ? merged.total[node] / whole : null),
    },
    {
      key: "parent",
      title: "of caller",
      about: "Part of the row above it in the tree",
      width: 72,
      rank: 5,
      number: true,
      cell: (node) => {
        const above = merged.total[merged.parent[node]];
        return share(above > 0 ? merged.total[node] / above : null, 0);
      },
    },
    ...(props.hasSelf === false
      ? []
      : [
          {
            key: "self",
            title: "self",
            about: "In the function itself",
            width: 78,
            rank: 3,
            number: true,
            cell: (node: number) => cell(measure.unit, merged.self[node]),
          },
        ]),
    {
      key: "place",
      title: "place",
      width: 170,
      rank: 4,
      cell: (node) => {
        const [file, line] = placeOf(merged.kind[node]);
        return file ? (
          <Place file={file} line={line} quiet />
        ) : (
          <span class="dim">{libraryOf(merged, node)}</span>
        );
      },
    },
  ];

  return (
    <Grid
      label={props.label}
      columns={columns}
      rows={rows}
      id={(node) => `${node}`}
      branches={{
        level: (node) => level.get(node) ?? 0,
        isOpen: (node) => (merged.children[node].length > 0 ? open.has(node) : null),
        toggle: (node) => {
          const next = new Set(open);
          if (!next.delete(node)) next.add(node);
          setChanged({ root, open: next });
        },
      }}
      current={props.onCurrent ? (props.current ? `${props.current}` : null) : undefined}
      onCurrent={props.onCurrent}
      onOpen={props.onOpen}
      height={props.height}
      empty={props.empty}
    />
  );
}

function libraryOf(merged: Merged, node: number): string {
  const fn = merged.kinds.fns[merged.kind[node]];
  const { tree } = profile();
  return tree.library(fn) ?? tree.module(fn)?.split("/").pop() ?? "";
}
