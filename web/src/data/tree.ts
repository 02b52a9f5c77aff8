// SPDX-License-Identifier: Apache-2.0
// The calling contexts: columns of numbers, one entry for each node. A parent comes before its children, so one pass
// from the end sums up and one from the beginning hands down.
import { baseName } from "../base/format";
import type { PageData } from "../data";

export const PYTHON = 1;
export const NATIVE = 2;

/** What a node has of its own, in seconds or bytes; null: nothing of it was measured. */
export interface Costs {
  python: Float64Array | null;
  native: Float64Array | null;
  system: Float64Array | null;
  wait: Float64Array | null;
  runnable: Float64Array | null;
  throttled: Float64Array | null;
  allocated: Float64Array | null;
  peak: Float64Array | null;
  live: Float64Array | null;
  copied: Float64Array | null;
  /** Known of the whole run only. */
  wasted: Float64Array | null;
}

/** The column of the page's data behind each, and how many of its units are one of ours. */
export const COLUMNS: [keyof Costs, string, number][] = [
  ["python", "python_ns", 1e9],
  ["native", "native_ns", 1e9],
  ["system", "system_ns", 1e9],
  ["wait", "wait_ns", 1e9],
  ["runnable", "runnable_ns", 1e9],
  ["throttled", "throttled_ns", 1e9],
  ["allocated", "allocated_bytes", 1],
  ["peak", "peak_bytes", 1],
  ["live", "live_bytes", 1],
  ["copied", "copied_bytes", 1],
  ["wasted", "wasted_ns", 1e9],
];

export function noCosts(): Costs {
  return Object.fromEntries(COLUMNS.map(([name]) => [name, null])) as unknown as Costs;
}

function wholeCosts(nodes: PageData["tree"]["nodes"]): Costs {
  const costs = noCosts();
  for (const [name, column, units] of COLUMNS) {
    const values = (nodes as unknown as Record<string, number[] | null>)[column];
    costs[name] = values ? Float64Array.from(values, (value) => value / units) : null;
  }
  return costs;
}

export class Tree {
  readonly size: number;
  readonly parent: Int32Array;
  /** Of each node: index into the functions, -1 of the root and of what was cut. */
  readonly fn: Int32Array;
  /** 0: native, or not known. */
  readonly line: Int32Array;
  /** Of the whole run, without what a node called. */
  readonly whole: Costs;
  readonly hidden: number[];
  private readonly data: PageData;

  constructor(data: PageData) {
    const { nodes, frames } = data.tree;
    this.data = data;
    this.size = nodes.parent.length;
    this.parent = Int32Array.from(nodes.parent);
    this.hidden = nodes.hidden;
    this.fn = Int32Array.from(nodes.frame, (frame) => (frame === null ? -1 : (frames.function[frame] ?? -1)));
    this.line = Int32Array.from(nodes.frame, (frame) => (frame === null ? 0 : (frames.line[frame] ?? 0)));
    this.whole = wholeCosts(nodes);
  }

  private string(index: number | null | undefined): string | null {
    return index === null || index === undefined ? null : this.data.strings[index];
  }

  name(fn: number): string {
    if (fn < 0) return "(what was cut)";
    const name = this.string(this.data.tree.functions.name[fn]);
    if (name === null) return `(no symbol) ${this.library(fn) ?? baseName(this.module(fn) ?? "")}`.trim();
    const file = this.file(fn);
    return name === "<module>" && file ? `<module> ${baseName(file)}` : name;
  }

  file(fn: number): string | null {
    return fn < 0 ? null : this.string(this.data.tree.functions.file[fn]);
  }

  /** Index into the strings, for comparisons; -1: none. */
  fileIndex(fn: number): number {
    return fn < 0 ? -1 : (this.data.tree.functions.file[fn] ?? -1);
  }

  library(fn: number): string | null {
    return fn < 0 ? null : this.string(this.data.tree.functions.library[fn]);
  }

  module(fn: number): string | null {
    return fn < 0 ? null : this.string(this.data.tree.functions.module[fn]);
  }

  firstLine(fn: number): number | null {
    return fn < 0 ? null : this.data.tree.functions.first_line[fn];
  }

  isNative(fn: number): boolean {
    return fn >= 0 && this.data.tree.functions.kind[fn] === NATIVE;
  }

  /** A Python function of the program itself. */
  isOwn(fn: number): boolean {
    return fn >= 0 && !this.isNative(fn) && this.data.tree.functions.library[fn] === null;
  }

  /** Each node with all below it. */
  totals(selves: Float64Array): Float64Array {
    const totals = Float64Array.from(selves);
    for (let node = this.size - 1; node > 0; node--) totals[this.parent[node]] += totals[node];
    return totals;
  }

  /** The nearest node at or above each one for which `fits` holds; -1: none. */
  nearest(fits: (node: number) => boolean): Int32Array {
    const found = new Int32Array(this.size).fill(-1);
    for (let node = 1; node < this.size; node++) found[node] = fits(node) ? node : found[this.parent[node]];
    return found;
  }
}
