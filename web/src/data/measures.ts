// SPDX-License-Identifier: Apache-2.0
// What can be asked of a calling context: each measure is a sum of costs, with its unit.
import { bytes, column, seconds } from "../base/format";
import type { Costs } from "./tree";

export interface Measure {
  id: string;
  title: string;
  /** The head of a column of it, with its unit. */
  head: string;
  unit: "s" | "B";
  of: (keyof Costs)[];
  about: string;
}

export const MEASURES: Measure[] = [
  {
    id: "cpu",
    title: "CPU time",
    head: "CPU s",
    unit: "s",
    of: ["python", "native", "system"],
    about: "in Python, native code and the kernel",
  },
  {
    id: "all",
    title: "All time",
    head: "time s",
    unit: "s",
    of: ["python", "native", "system", "wait", "runnable", "throttled"],
    about: "CPU time, waiting and ready to run, of all threads",
  },
  {
    id: "python",
    title: "Python",
    head: "python s",
    unit: "s",
    of: ["python"],
    about: "CPU time in the interpreter",
  },
  {
    id: "native",
    title: "Native",
    head: "native s",
    unit: "s",
    of: ["native"],
    about: "CPU time in compiled code",
  },
  {
    id: "system",
    title: "System",
    head: "system s",
    unit: "s",
    of: ["system"],
    about: "CPU time in the kernel",
  },
  {
    id: "wait",
    title: "Waiting",
    head: "wait s",
    unit: "s",
    of: ["wait"],
    about: "off the CPU: it slept, read, or waited for a lock",
  },
  {
    id: "delay",
    title: "Ready to run",
    head: "delay s",
    unit: "s",
    of: ["runnable", "throttled"],
    about: "without a processor, or stopped by a quota",
  },
  {
    id: "allocated",
    title: "Allocated",
    head: "allocated",
    unit: "B",
    of: ["allocated"],
    about: "ever allocated",
  },
  {
    id: "peak",
    title: "Peak memory",
    head: "at peak",
    unit: "B",
    of: ["peak"],
    about: "live at the peak",
  },
  {
    id: "live",
    title: "Kept memory",
    head: "kept",
    unit: "B",
    of: ["live"],
    about: "not freed at the end",
  },
  {
    id: "copied",
    title: "Copied",
    head: "copied",
    unit: "B",
    of: ["copied"],
    about: "copied in memory",
  },
  {
    id: "wasted",
    title: "Wasted",
    head: "wasted s",
    unit: "s",
    of: ["wasted"],
    about: "what fixes may save, spread over the call paths of each line; time that lines share counts once",
  },
];

export function measure(id: string): Measure {
  return MEASURES.find((one) => one.id === id) ?? MEASURES[0];
}

/** The sum of the measure's costs for each node; null: none of them was measured. */
export function sum(costs: Costs, of: (keyof Costs)[]): Float64Array | null {
  const parts = of.map((name) => costs[name]).filter((part) => part !== null);
  if (parts.length === 0) return null;
  const total = Float64Array.from(parts[0]);
  for (const part of parts.slice(1)) for (let i = 0; i < total.length; i++) total[i] += part[i];
  return total;
}

/** Of a part of the run what is known of the whole only: each node has as much of it as of its CPU time. */
export function scaled(
  all: Float64Array | null,
  whole: Float64Array | null,
  now: Float64Array | null,
): Float64Array | null {
  if (!all || !whole || !now) return null;
  return all.map((value, node) => (whole[node] > 0 ? (value * now[node]) / whole[node] : 0));
}

/** In a column: the unit is in its head, or with the number. */
export function cell(unit: "s" | "B", value: number | null): string {
  return unit === "s" ? column(value) : bytes(value);
}

export function withUnit(unit: "s" | "B", value: number | null): string {
  return unit === "s" ? seconds(value) : bytes(value);
}
