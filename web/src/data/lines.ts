// SPDX-License-Identifier: Apache-2.0
// Costs by source line, of the whole run as the profile has them, or of a part of it from the calling contexts.
import type { PageData, SourceLine } from "../data";
import { rows } from "./profile";
import type { Costs, Tree } from "./tree";

export interface LineCosts {
  file: number;
  line: number;
  python: number | null;
  native: number | null;
  system: number | null;
  wait: number | null;
  delay: number | null;
  allocated: number | null;
  peak: number | null;
  copied: number | null;
  wasted: number | null;
  /** Index into the findings. */
  finding: number | null;
  library: string | null;
  library_s: number | null;
  /** CPU time of native threads while it waited for them. */
  worked: number | null;
}

function added(a: number | null, b: number | null): number | null {
  return a === null && b === null ? null : (a ?? 0) + (b ?? 0);
}

export function cpuOf(line: LineCosts): number {
  return (line.python ?? 0) + (line.native ?? 0) + (line.system ?? 0);
}

export function wholeLines(data: PageData): LineCosts[] {
  return rows<SourceLine>(data.source.lines).map((row) => ({
    file: row.file,
    line: row.line,
    python: row.python_s,
    native: row.native_s,
    system: row.system_s,
    wait: row.wait_s,
    delay: added(row.runnable_s, row.throttled_s),
    allocated: row.allocated_bytes,
    peak: row.peak_bytes,
    copied: row.copied_bytes,
    wasted: row.wasted_s,
    finding: row.finding,
    library: row.library === null ? null : data.strings[row.library],
    library_s: row.library_cpu_s,
    worked: row.worked_s,
  }));
}

/** Which file of the sources a path of the tree is; -1: none. */
function filesByString(data: PageData): Map<number, number> {
  return new Map(data.source.files.path.map((path, file) => [path, file]));
}

function emptyLine(file: number, line: number): LineCosts {
  const none = {
    python: null,
    native: null,
    system: null,
    wait: null,
    delay: null,
    allocated: null,
    peak: null,
  };
  const unknown = { copied: null, wasted: null, finding: null, library: null, library_s: null, worked: null };
  return { file, line, ...none, ...unknown };
}

/** A line of an own file has all that it called in libraries, a library's line what was spent in itself. */
export function linesOf(data: PageData, tree: Tree, costs: Costs): LineCosts[] {
  const files = filesByString(data);
  const found = new Map<string, LineCosts>();
  const take = (owner: number, node: number) => {
    const file = files.get(tree.fileIndex(tree.fn[owner]));
    if (file === undefined) return;
    const key = `${file}:${tree.line[owner]}`;
    const line = found.get(key) ?? emptyLine(file, tree.line[owner]);
    found.set(key, line);
    for (const name of ["python", "native", "system", "wait", "allocated", "peak", "copied"] as const) {
      const value = costs[name]?.[node];
      if (value) line[name] = (line[name] ?? 0) + value;
    }
    const delay = (costs.runnable?.[node] ?? 0) + (costs.throttled?.[node] ?? 0);
    if (delay) line.delay = (line.delay ?? 0) + delay;
  };
  const own = tree.nearest((node) => tree.isOwn(tree.fn[node]));
  const python = tree.nearest((node) => tree.fn[node] >= 0 && !tree.isNative(tree.fn[node]));
  for (let node = 1; node < tree.size; node++) {
    if (own[node] > 0) take(own[node], node);
    if (python[node] > 0 && python[node] !== own[node]) take(python[node], node);
  }
  return [...found.values()].filter(
    (line) => cpuOf(line) || line.wait || line.delay || line.allocated || line.copied,
  );
}
