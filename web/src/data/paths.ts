// SPDX-License-Identifier: Apache-2.0
// Two call paths side by side.
import type { PathFrame } from "../data";

function same(a: PathFrame, b: PathFrame): boolean {
  return (
    a.kind === b.kind &&
    a.function === b.function &&
    a.file === b.file &&
    a.line === b.line &&
    a.offset === b.offset
  );
}

/** How many frames from the outermost on are in both. */
export function trunkLength(first: readonly PathFrame[], second: readonly PathFrame[]): number {
  const most = Math.min(first.length, second.length);
  let n = 0;
  while (n < most && same(first[n], second[n])) n++;
  return n;
}
