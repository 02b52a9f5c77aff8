// SPDX-License-Identifier: Apache-2.0
// What happened in each slice of time beside its costs: processes and threads that began, the peak, a heap that grew.
import { bytes } from "../base/format";
import type { Heap, MemoryPoint, PageData, Process, Thread } from "../data";
import { rows } from "./profile";
import type { Tracks } from "./tracks";

/** Of more in a slice only the number is told. */
const NAMES_MAX = 2;
/** Of the greatest heap; a smaller change is no event. */
const GROWTH_MIN = 0.2;

type Events = Map<number, string[]>;

function told(names: string[], what: string, verb: string): string {
  return names.length <= NAMES_MAX ? `${names.join(", ")} ${verb}` : `${names.length} ${what} ${verb}`;
}

function sliceOf(of: Tracks, t_s: number): number {
  return Math.min(of.slices, Math.max(1, Math.floor((t_s - of.start_s) / of.width_s) + 1));
}

function beginnings(data: PageData, of: Tracks, add: (slice: number, text: string) => void): void {
  const since = (started: string) => (Date.parse(started) - Date.parse(data.run.started)) / 1000;
  const gather = (all: { started: string | null; name: string }[], what: string) => {
    const found: Events = new Map();
    for (const one of all) {
      if (one.started === null || Number.isNaN(Date.parse(one.started))) continue;
      const slice = sliceOf(of, since(one.started));
      found.set(slice, [...(found.get(slice) ?? []), one.name]);
    }
    for (const [slice, names] of found) add(slice, told(names, what, "began"));
  };
  const processes = rows<Process>(data.processes).slice(1);
  gather(
    processes.map((one) => ({ started: one.started, name: `process ${one.pid}` })),
    "processes",
  );
  const threads = rows<Thread>(data.threads).filter((one) => !one.is_main && one.thread > 0);
  gather(
    threads.map((one) => ({ started: one.started, name: one.name || `thread ${one.tid ?? one.thread}` })),
    "threads",
  );
}

/** Of the process with most memory. */
function memory(data: PageData, of: Tracks, add: (slice: number, text: string) => void): void {
  const [heap] = rows<Heap>(data.heap).sort((a, b) => (b.peak_bytes ?? 0) - (a.peak_bytes ?? 0));
  if (!heap?.peak_bytes) return;
  const points = rows<MemoryPoint>(data.memory_timeline).filter((point) => point.process === heap.process);
  const last = new Map<number, number>();
  for (const point of points) last.set(sliceOf(of, point.t_s), point.python_bytes + point.native_bytes);
  let before = 0;
  for (const [slice, now] of [...last].sort(([a], [b]) => a - b)) {
    if (Math.abs(now - before) >= GROWTH_MIN * heap.peak_bytes)
      add(slice, `heap ${now > before ? "+" : "−"}${bytes(Math.abs(now - before))}`);
    before = now;
  }
  if (heap.peak_t_s !== null) add(sliceOf(of, heap.peak_t_s), `peak of memory: ${bytes(heap.peak_bytes)}`);
}

/** {slice: "worker-0, worker-1 began; heap +60.0 MB"} */
export function happened(data: PageData, of: Tracks): Map<number, string> {
  const found: Events = new Map();
  const add = (slice: number, text: string) => found.set(slice, [...(found.get(slice) ?? []), text]);
  beginnings(data, of, add);
  memory(data, of, add);
  return new Map([...found].map(([slice, texts]) => [slice, texts.join("; ")]));
}
