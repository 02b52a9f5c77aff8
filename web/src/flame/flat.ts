// SPDX-License-Identifier: Apache-2.0
// All functions of the calling contexts, each once.
import type { Tree } from "../data/tree";
import type { Kinds } from "./merge";

export interface FlatRow {
  kind: number;
  total: number;
  self: number;
}

/** Each function with all below it, recursion once; the costliest first. */
export function flatten(tree: Tree, values: Float64Array, shape: Kinds): FlatRow[] {
  const totals = tree.totals(values);
  const rows = new Map<number, FlatRow>();
  const shown = tree.nearest((node) => shape.of[node] >= 0);
  const row = (kind: number) => {
    const found = rows.get(kind) ?? { kind, total: 0, self: 0 };
    rows.set(kind, found);
    return found;
  };
  const isWithin = (node: number) => {
    for (let up = tree.parent[node]; up > 0; up = tree.parent[up])
      if (shape.of[up] === shape.of[node]) return true;
    return false;
  };
  for (let node = 1; node < tree.size; node++) {
    if (shown[node] > 0 && values[node]) row(shape.of[shown[node]]).self += values[node];
    if (shape.of[node] >= 0 && totals[node] > 0 && !isWithin(node)) row(shape.of[node]).total += totals[node];
  }
  return [...rows.values()].sort((a, b) => b.total - a.total);
}
