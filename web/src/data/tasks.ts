// SPDX-License-Identifier: Apache-2.0
// Tasks of asyncio, by their coroutine: their steps run below the loop's Handle._run, or, where the loop is native, at
// the outermost coroutine that the profile has of a task. What the idle loop waits is theirs, with a call path of their
// own that begins at the coroutine.
import type { PageData, TaskTime } from "../data";
import { rows } from "./profile";
import type { Costs, Tree } from "./tree";

export interface Task {
  /** Index into the functions of the tree. */
  fn: number;
  python: number;
  native: number;
  system: number;
  wait: number;
  /** That the program gave its tasks, those with the most time first. */
  names: NamedTime[];
}

export interface NamedTime {
  name: string;
  cpu_s: number;
  wait_s: number;
}

const keyOf = (name: string | null, file: string | null, line: number | null) => `${line} ${name} ${file}`;

/** Names of tasks by their coroutine. */
function namesOf(data: PageData): Map<string, Map<string, NamedTime>> {
  const found = new Map<string, Map<string, NamedTime>>();
  for (const row of rows<TaskTime>(data.tasks)) {
    if (row.task === null) continue;
    const key = keyOf(row.coroutine, row.coroutine_file, row.coroutine_line);
    const names = found.get(key) ?? new Map<string, NamedTime>();
    const named = names.get(row.task) ?? { name: row.task, cpu_s: 0, wait_s: 0 };
    named.cpu_s += row.cpu_s ?? 0;
    named.wait_s += row.wait_s;
    found.set(key, names.set(row.task, named));
  }
  return found;
}

/** Roots of threads, which are no coroutines. */
const isThreadRoot = (tree: Tree, fn: number) =>
  tree.name(fn).startsWith("<") || (tree.file(fn) ?? "").endsWith("/threading.py");

const isLoop = (tree: Tree, fn: number) =>
  fn >= 0 && tree.name(fn) === "Handle._run" && (tree.file(fn) ?? "").endsWith("/asyncio/events.py");

function without(costs: Costs, tree: Tree): (node: number) => boolean {
  const spent = new Float64Array(tree.size);
  for (const kind of [costs.python, costs.native, costs.system])
    if (kind) for (let node = 0; node < tree.size; node++) spent[node] += kind[node];
  const all = tree.totals(spent);
  return (node) => all[node] === 0;
}

/** The outermost function of the task to which each node belongs; -1: of none. */
function owners(tree: Tree, costs: Costs, data: PageData): Int32Array {
  const keys = new Set(
    rows<TaskTime>(data.tasks).map((row) => keyOf(row.coroutine, row.coroutine_file, row.coroutine_line)),
  );
  const coroutines = new Set(
    [...new Set(tree.fn)].filter(
      (fn) => fn >= 0 && keys.has(keyOf(tree.name(fn), tree.file(fn), tree.firstLine(fn))),
    ),
  );
  const found = new Int32Array(tree.size).fill(-1);
  const isIdle = without(costs, tree);
  const isPython = (node: number) => tree.fn[node] >= 0 && !tree.isNative(tree.fn[node]);
  const hasLoop = coroutines.size > 0 || tree.fn.some((fn) => isLoop(tree, fn));
  for (let node = 1; hasLoop && node < tree.size; node++) {
    const parent = tree.parent[node];
    const isStep =
      isPython(node) &&
      (isLoop(tree, tree.fn[parent]) || (found[parent] < 0 && coroutines.has(tree.fn[node])));
    const isChain = parent === 0 && isPython(node) && isIdle(node) && !isThreadRoot(tree, tree.fn[node]);
    found[node] = isStep || isChain ? tree.fn[node] : found[parent];
  }
  return found;
}

const timeOf = (named: NamedTime) => named.cpu_s + named.wait_s;

/** What the tasks of each coroutine waited, as the question "tasks" has it; null: the profile does not say. */
function waitsOf(data: PageData): Map<string, number> | null {
  const found = new Map<string, number>();
  for (const row of rows<TaskTime>(data.tasks)) {
    const key = keyOf(row.coroutine, row.coroutine_file, row.coroutine_line);
    found.set(key, (found.get(key) ?? 0) + row.wait_s);
  }
  return found.size > 0 ? found : null;
}

/** The longest first. Also callbacks of loops, which run as steps of tasks do. */
export function tasks(tree: Tree, costs: Costs, data: PageData): Task[] {
  const owner = owners(tree, costs, data);
  const named = namesOf(data);
  const waits = waitsOf(data);
  const found = new Map<number, Task>();
  for (let node = 1; node < tree.size; node++) {
    const fn = owner[node];
    if (fn < 0) continue;
    const task = found.get(fn) ?? { fn, python: 0, native: 0, system: 0, wait: 0, names: [] };
    found.set(fn, task);
    for (const kind of ["python", "native", "system", "wait"] as const)
      task[kind] += costs[kind]?.[node] ?? 0;
  }
  for (const task of found.values()) {
    const key = keyOf(tree.name(task.fn), tree.file(task.fn), tree.firstLine(task.fn));
    // In the tree a task that waits for others has their waiting, too.
    if (waits) task.wait = waits.get(key) ?? 0;
    task.names = [...(named.get(key)?.values() ?? [])].sort((a, b) => timeOf(b) - timeOf(a));
  }
  const height = (task: Task) => task.python + task.native + task.system + task.wait;
  return [...found.values()].filter((task) => height(task) > 0).sort((a, b) => height(b) - height(a));
}
