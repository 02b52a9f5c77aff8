// SPDX-License-Identifier: Apache-2.0
// A part of the run: a period, a process or a thread. Every view that shows calling contexts is about it.
import { computed } from "@preact/signals";
import { adjust, param } from "../base/route";
import type { PageData, Time } from "../data";
import { profile } from "./profile";
import { COLUMNS, type Costs, noCosts } from "./tree";

export interface Period {
  from_s: number;
  to_s: number;
}

export interface Part {
  period: Period | null;
  process: number | null;
  /** Number of the thread in its process; null: all. */
  thread: number | null;
}

export function parsePeriod(text: string): Period | null {
  const match = /^(-?[\d.]+)-([\d.]+)$/.exec(text);
  if (!match) return null;
  const from_s = Number(match[1]);
  const to_s = Number(match[2]);
  return from_s < to_s ? { from_s, to_s } : null;
}

export function parsePart(t: string, of: string): Part {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(of);
  return {
    period: parsePeriod(t),
    process: match ? Number(match[1]) : null,
    thread: match?.[2] ? Number(match[2]) : null,
  };
}

export const part = computed<Part>(() => parsePart(param("t"), param("of")));

export const isWhole = computed(() => part.value.period === null && part.value.process === null);

const THOUSANDTHS = 1000;

export function choosePeriod(period: Period | null): void {
  const round = (t: number) => Math.round(t * THOUSANDTHS) / THOUSANDTHS;
  adjust({ t: period ? `${round(period.from_s)}-${round(period.to_s)}` : "" });
}

export function chooseOf(process: number | null, thread: number | null = null): void {
  adjust({ of: process === null ? "" : thread === null ? `${process}` : `${process}.${thread}` });
}

/** Beginning of slice n, which is 1 or more, in seconds of the run. */
export function sliceStart(time: Time, slice: number): number {
  return time.first_t_s + (slice - 1) * time.width_s;
}

/** Whole slices: those that have their middle in the period. */
function sliceFits(time: Time, period: Period | null): (slice: number) => boolean {
  if (!period) return () => true;
  return (slice) => {
    const middle = sliceStart(time, slice) + time.width_s / 2;
    return middle >= period.from_s && middle < period.to_s;
  };
}

/** The costs of each node in a part of the run. What has no slice (the peak, what is kept) is not known of one. */
export function costsOf(data: PageData, size: number, chosen: Part): Costs {
  const costs = noCosts();
  const { time, threads } = data;
  if (!time) return costs;
  const { cells } = time;
  const fits = sliceFits(time, chosen.period);
  const taken = cells.slice.map(
    (slice, i) =>
      fits(slice) &&
      (chosen.process === null || cells.process[i] === chosen.process) &&
      (chosen.thread === null || (cells.thread[i] >= 0 && threads.thread[cells.thread[i]] === chosen.thread)),
  );
  for (const [name, source, units] of COLUMNS) {
    const values = (cells as unknown as Record<string, number[] | null>)[source];
    if (!values || (chosen.thread !== null && units === 1)) continue; // memory is not known by thread
    const sums = new Float64Array(size);
    for (let i = 0; i < taken.length; i++) if (taken[i]) sums[cells.node[i]] += values[i] / units;
    costs[name] = sums;
  }
  return costs;
}

/** Of what is chosen. */
export const costs = computed<Costs>(() =>
  isWhole.value ? profile().tree.whole : costsOf(profile().data, profile().tree.size, part.value),
);
