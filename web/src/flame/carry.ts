// SPDX-License-Identifier: Apache-2.0
// What is chosen in a tree of frames, while new data of a running program come: the same call path in the new tree.
import { useRef, useState } from "preact/hooks";
import { profile } from "../data/profile";
import type { Tree } from "../data/tree";
import type { Merged } from "./merge";

/** The node of the same call path; 0: there is none. */
export function carried(from: Merged, node: number, to: Merged): number {
  const path: string[] = [];
  for (let at = node; at > 0; at = from.parent[at]) path.push(from.kinds.keys[from.kind[at]]);
  let at = 0;
  for (const key of path.reverse()) {
    const next = to.children[at].find((child) => to.kinds.keys[to.kind[child]] === key);
    if (next === undefined) return 0;
    at = next;
  }
  return at;
}

interface Kept<T> {
  of: Merged;
  tree: Tree;
  value: T;
}

/** State about the nodes of a tree: `none` for another tree, but `move`d to where they are in one of newer data. */
export function useNodes<T>(
  merged: Merged,
  none: T,
  move: (value: T, to: (node: number) => number) => T,
): [T, (value: T) => void] {
  const { tree } = profile();
  const [, paint] = useState(0);
  const kept = useRef<Kept<T> | null>(null);
  const before = kept.current;
  if (before?.of !== merged) {
    const isNewer = before && before.tree !== tree;
    const value = isNewer ? move(before.value, (node) => carried(before.of, node, merged)) : none;
    kept.current = { of: merged, tree, value };
  }
  const set = (value: T) => {
    kept.current = { of: merged, tree, value };
    paint((n) => n + 1);
  };
  return [kept.current!.value, set];
}
