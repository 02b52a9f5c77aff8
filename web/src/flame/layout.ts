// SPDX-License-Identifier: Apache-2.0
// Where the frames of a flame graph lie: only those that are wide enough to be seen.
import type { Merged } from "./merge";

export interface Box {
  node: number;
  depth: number;
  /** Parts of the width, 0 to 1. */
  left: number;
  width: number;
}

/** The frames above `focus` take all of the width; below it each child has its part. */
export function layout(merged: Merged, focus: number, widthMin: number, top = 0): Box[] {
  const boxes: Box[] = [];
  const above: number[] = [];
  for (let node = focus; node !== top && node !== 0; node = merged.parent[node])
    above.unshift(merged.parent[node]);
  for (const [depth, node] of above.entries()) boxes.push({ node, depth, left: 0, width: 1 });
  const whole = merged.total[focus];
  const pending: Box[] = [{ node: focus, depth: above.length, left: 0, width: 1 }];
  while (pending.length > 0) {
    const box = pending.pop()!;
    boxes.push(box);
    let { left } = box;
    for (const child of merged.children[box.node]) {
      const width = whole > 0 ? merged.total[child] / whole : 0;
      if (width >= widthMin) pending.push({ node: child, depth: box.depth + 1, left, width });
      left += width;
    }
  }
  return boxes;
}

export function deepest(boxes: readonly Box[]): number {
  return boxes.reduce((most, box) => Math.max(most, box.depth), 0);
}

export function boxAt(boxes: readonly Box[], depth: number, x: number): Box | null {
  return boxes.find((box) => box.depth === depth && x >= box.left && x < box.left + box.width) ?? null;
}
