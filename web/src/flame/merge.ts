// SPDX-License-Identifier: Apache-2.0
// Calling contexts become the tree of a flame graph: functions instead of lines, with or without native frames, with
// libraries folded, seen from the leaves, or around one function.
import { baseName } from "../base/format";
import type { Tree } from "../data/tree";

/** What stands at a place of the merged tree: a function, a folded library, or what was cut. */
export interface Kinds {
  /** Of each node of the calling contexts; -1: the node is left out, its costs go to the one above. */
  of: Int32Array;
  labels: string[];
  /** Index into the tree's functions; -1: a folded library, or what was cut. */
  fns: number[];
  colours: Colour[];
  /** Names each kind in an address, also where two functions have the same name. */
  keys: string[];
}

export type Colour = "own" | "library" | "native" | "rest";

export interface Shape {
  native: boolean;
  /** Frames of a library are one frame with its name. */
  folded: boolean;
}

export function kinds(tree: Tree, shape: Shape): Kinds {
  const result: Kinds = {
    of: new Int32Array(tree.size).fill(-1),
    labels: [],
    fns: [],
    colours: [],
    keys: [],
  };
  const known = new Map<string | number, number>();
  const kind = (key: string | number, label: string, fn: number, colour: Colour) => {
    let found = known.get(key);
    if (found === undefined) {
      found = result.labels.length;
      known.set(key, found);
      result.labels.push(label);
      result.fns.push(fn);
      result.colours.push(colour);
      result.keys.push(
        fn < 0 || tree.isNative(fn)
          ? label
          : `${tree.name(fn)} ${baseName(tree.file(fn) ?? "")}:${tree.firstLine(fn) ?? ""}`,
      );
    }
    return found;
  };
  for (let node = 1; node < tree.size; node++) {
    const fn = tree.fn[node];
    const library = tree.library(fn);
    if (fn >= 0 && !shape.native && tree.isNative(fn)) continue;
    if (fn < 0) result.of[node] = kind("cut", tree.name(fn), -1, "rest");
    else if (shape.folded && library) result.of[node] = kind(`[${library}`, `[${library}]`, -1, "library");
    else
      result.of[node] = kind(
        fn,
        tree.name(fn),
        fn,
        tree.isNative(fn) ? "native" : library ? "library" : "own",
      );
  }
  return result;
}

/** Nodes in the order in which they were made: a parent before its children. Node 0 is all. */
export interface Merged {
  parent: number[];
  kind: number[];
  self: number[];
  total: number[];
  children: number[][];
  kinds: Kinds;
}

class Builder {
  readonly merged: Merged;
  private readonly known = new Map<number, number>();

  constructor(kinds: Kinds) {
    this.merged = { parent: [0], kind: [-1], self: [0], total: [0], children: [[]], kinds };
  }

  child(parent: number, kind: number): number {
    const { merged } = this;
    const key = parent * (merged.kinds.labels.length + 1) + kind;
    let found = this.known.get(key);
    if (found === undefined) {
      found = merged.parent.length;
      this.known.set(key, found);
      merged.parent.push(parent);
      merged.kind.push(kind);
      merged.self.push(0);
      merged.total.push(0);
      merged.children.push([]);
      merged.children[parent].push(found);
    }
    return found;
  }

  /** Sums up, and lays the costliest child of each first. */
  finish(): Merged {
    const { merged } = this;
    merged.total = merged.self.slice();
    for (let node = merged.parent.length - 1; node > 0; node--)
      merged.total[merged.parent[node]] += merged.total[node];
    for (const list of merged.children) list.sort((a, b) => merged.total[b] - merged.total[a]);
    return merged;
  }
}

/** A folded library's frames that follow each other are one, and so are frames that were left out. */
function sameAsAbove(kinds: Kinds, node: number, above: number): boolean {
  return above >= 0 && kinds.of[above] === kinds.of[node] && kinds.fns[kinds.of[node]] < 0;
}

/** Of each node the nearest one above that is shown; -1: none. */
function shownAbove(tree: Tree, kinds: Kinds): Int32Array {
  const shown = new Int32Array(tree.size).fill(-1);
  const above = new Int32Array(tree.size).fill(-1);
  for (let node = 1; node < tree.size; node++) {
    above[node] = shown[tree.parent[node]];
    const isShown = kinds.of[node] >= 0 && !sameAsAbove(kinds, node, above[node]);
    shown[node] = isShown ? node : above[node];
  }
  return above;
}

export function topDown(
  tree: Tree,
  kinds: Kinds,
  selves: Float64Array,
  roots?: (node: number) => boolean,
): Merged {
  const builder = new Builder(kinds);
  const place = new Int32Array(tree.size).fill(roots ? -1 : 0);
  const above = shownAbove(tree, kinds);
  for (let node = 1; node < tree.size; node++) {
    let at = place[tree.parent[node]];
    if (at < 0 && roots?.(node)) at = 0;
    if (at >= 0 && kinds.of[node] >= 0 && !(at > 0 && sameAsAbove(kinds, node, above[node])))
      at = builder.child(at, kinds.of[node]);
    place[node] = at;
    if (at >= 0) builder.merged.self[at] += selves[node];
  }
  return builder.finish();
}

/** From each node with costs up to the roots: who called it. With `amounts`, of those nodes instead of all leaves. */
export function bottomUp(tree: Tree, kinds: Kinds, amounts: Float64Array): Merged {
  const builder = new Builder(kinds);
  const above = shownAbove(tree, kinds);
  for (let node = 1; node < tree.size; node++) {
    if (amounts[node] === 0) continue;
    const isShown = kinds.of[node] >= 0 && !sameAsAbove(kinds, node, above[node]);
    let at = 0;
    for (let up = isShown ? node : above[node]; up > 0; up = above[up]) at = builder.child(at, kinds.of[up]);
    builder.merged.self[at] += amounts[node];
  }
  return builder.finish();
}

export interface Sandwich {
  callers: Merged;
  callees: Merged;
}

/** Around one kind of frame. Recursion counts once: of calls within calls the outermost. */
export function sandwich(tree: Tree, kinds: Kinds, selves: Float64Array, kind: number): Sandwich {
  const inside = new Uint8Array(tree.size);
  const outermost = new Uint8Array(tree.size);
  for (let node = 1; node < tree.size; node++) {
    const within = inside[tree.parent[node]];
    outermost[node] = !within && kinds.of[node] === kind ? 1 : 0;
    inside[node] = within || outermost[node] ? 1 : 0;
  }
  const totals = tree.totals(selves);
  const amounts = totals.map((total, node) => (outermost[node] ? total : 0));
  return {
    callers: bottomUp(tree, kinds, amounts),
    callees: topDown(tree, kinds, selves, (node) => outermost[node] === 1),
  };
}
