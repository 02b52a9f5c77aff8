// SPDX-License-Identifier: Apache-2.0
// What threads waited for by slice of time: a few groups of causes, so that a picture can tell them apart.
import type { PageData, SliceWait } from "../data";
import { rows } from "./profile";
import type { Tracks } from "./tracks";

export const GROUPS = ["gil", "lock", "io", "events", "sleep", "child", "other", "delay"] as const;
export type Group = (typeof GROUPS)[number];

export const GROUP_NAMES: Record<Group, string> = {
  gil: "the GIL",
  lock: "locks",
  io: "I/O",
  events: "events",
  sleep: "asleep",
  child: "children",
  other: "other",
  delay: "ready to run",
};

const GROUP_OF: Record<string, Group> = {
  gil: "gil",
  lock: "lock",
  socket: "io",
  pipe: "io",
  file: "io",
  terminal: "io",
  disk: "io",
  gpu: "io",
  poll: "events",
  signal: "events",
  sleep: "sleep",
  child: "child",
};

export type GroupTrack = Record<Group, Float64Array>;

/** Nothing where no cause is known. */
export function groupTrack(data: PageData, of: Tracks): GroupTrack | null {
  const all = rows<SliceWait>(data.slice_waits).filter((row) => row.slice >= 1 && row.slice <= of.slices);
  if (!all.some((row) => row.cause !== "unknown")) return null;
  const track = Object.fromEntries(
    GROUPS.map((group) => [group, new Float64Array(of.slices)]),
  ) as unknown as GroupTrack;
  for (const row of all) track[GROUP_OF[row.cause] ?? "other"][row.slice - 1] += row.wait_s;
  track.delay = of.all.delay;
  return track;
}

/** What was waited for most in each slice, with its part: {slice: ["lock", 0.75]}. */
export function mostBySlice(data: PageData): Map<number, [string, number]> {
  const sums = new Map<number, number>();
  const most = new Map<number, SliceWait>();
  for (const row of rows<SliceWait>(data.slice_waits)) {
    sums.set(row.slice, (sums.get(row.slice) ?? 0) + row.wait_s);
    if (row.wait_s > (most.get(row.slice)?.wait_s ?? 0)) most.set(row.slice, row);
  }
  return new Map([...most].map(([slice, row]) => [slice, [row.cause, row.wait_s / sums.get(slice)!]]));
}
