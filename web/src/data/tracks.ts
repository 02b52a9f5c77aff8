// SPDX-License-Identifier: Apache-2.0
// The course of the run: time of each kind by slice, for each thread and each process.
import type { PageData } from "../data";
import { type Period, sliceStart } from "./filter";

export const TRACK_KINDS = ["python", "native", "system", "wait", "delay"] as const;
export type TrackKind = (typeof TRACK_KINDS)[number];
export type Track = Record<TrackKind, Float64Array>;

export interface Tracks {
  slices: number;
  start_s: number;
  width_s: number;
  all: Track;
  byProcess: Map<number, Track>;
  /** By index into the threads. */
  byThread: Map<number, Track>;
}

function track(slices: number): Track {
  return Object.fromEntries(TRACK_KINDS.map((kind) => [kind, new Float64Array(slices)])) as Track;
}

function of<Key>(map: Map<Key, Track>, key: Key, slices: number): Track {
  let found = map.get(key);
  if (!found) {
    found = track(slices);
    map.set(key, found);
  }
  return found;
}

const SOURCES: [TrackKind, string][] = [
  ["python", "python_ns"],
  ["native", "native_ns"],
  ["system", "system_ns"],
  ["wait", "wait_ns"],
  ["delay", "runnable_ns"],
  ["delay", "throttled_ns"],
];

export function tracks(data: PageData): Tracks | null {
  const { time } = data;
  if (!time || time.cells.slice.length === 0) return null;
  const { cells } = time;
  const slices = cells.slice.reduce((most, slice) => Math.max(most, slice), 0);
  const result: Tracks = {
    slices,
    start_s: sliceStart(time, 1),
    width_s: time.width_s,
    all: track(slices),
    byProcess: new Map(),
    byThread: new Map(),
  };
  for (const [kind, source] of SOURCES) {
    const values = (cells as unknown as Record<string, number[] | null>)[source];
    if (!values) continue;
    for (let i = 0; i < values.length; i++) {
      if (!values[i]) continue;
      const at = cells.slice[i] - 1;
      const seconds = values[i] / 1e9;
      result.all[kind][at] += seconds;
      of(result.byProcess, cells.process[i], slices)[kind][at] += seconds;
      if (cells.thread[i] >= 0) of(result.byThread, cells.thread[i], slices)[kind][at] += seconds;
    }
  }
  return result;
}

/** In whole slices of a period: those that have their middle in it. */
export function total(one: Track, kind: TrackKind, of: Tracks, period: Period | null): number {
  const fits = (slice: number) => {
    const middle = of.start_s + (slice + 0.5) * of.width_s;
    return !period || (middle >= period.from_s && middle < period.to_s);
  };
  return one[kind].reduce((sum, value, slice) => (fits(slice) ? sum + value : sum), 0);
}

/** The most that a slice has, of all kinds together. */
export function highest(one: Record<string, Float64Array>): number {
  const kinds = Object.values(one);
  const sums = Array.from(kinds[0], (_, slice) => kinds.reduce((sum, kind) => sum + kind[slice], 0));
  return sums.reduce((most, sum) => Math.max(most, sum), 0);
}
