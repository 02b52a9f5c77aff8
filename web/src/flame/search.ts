// SPDX-License-Identifier: Apache-2.0
// Search in a flame graph.
import type { Merged } from "./merge";

/** Whether a label has the words that were typed, in any case. */
export function matcher(query: string): ((label: string) => boolean) | null {
  const wanted = query.trim().toLowerCase();
  return wanted ? (label) => label.toLowerCase().includes(wanted) : null;
}

/** What the frames that match have together: of calls within calls the outermost. */
export function matched(merged: Merged, matches: (label: string) => boolean): number {
  let sum = 0;
  const inside = new Uint8Array(merged.parent.length);
  for (let node = 1; node < merged.parent.length; node++) {
    const above = merged.parent[node];
    const hit = matches(merged.kinds.labels[merged.kind[node]]);
    inside[node] = inside[above] || hit ? 1 : 0;
    if (hit && !inside[above]) sum += merged.total[node];
  }
  return sum;
}
