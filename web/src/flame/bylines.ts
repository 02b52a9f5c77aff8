// SPDX-License-Identifier: Apache-2.0
import type { Tree } from "../data/tree";
import type { Kinds } from "./merge";

/** Frames by line instead of by function: who called a line is a line. */
export function lineKinds(tree: Tree): Kinds & { places: [string | null, number | null][] } {
  const known = new Map<string, number>();
  const result = {
    of: new Int32Array(tree.size).fill(-1),
    labels: [] as string[],
    keys: [] as string[],
    fns: [] as number[],
    colours: [] as Kinds["colours"],
    places: [] as [string | null, number | null][],
  };
  for (let node = 1; node < tree.size; node++) {
    const fn = tree.fn[node];
    if (fn < 0) continue;
    const key = `${fn}:${tree.line[node]}`;
    let kind = known.get(key);
    if (kind === undefined) {
      kind = result.labels.length;
      known.set(key, kind);
      result.labels.push(tree.name(fn));
      result.keys.push(`${tree.name(fn)} ${tree.file(fn) ?? ""}:${tree.line[node]}`);
      result.fns.push(fn);
      result.colours.push(tree.isNative(fn) ? "native" : tree.library(fn) ? "library" : "own");
      result.places.push(tree.isNative(fn) ? [null, null] : [tree.file(fn), tree.line[node] || null]);
    }
    result.of[node] = kind;
  }
  return result;
}
