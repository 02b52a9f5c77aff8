// SPDX-License-Identifier: Apache-2.0
// How processes and threads are called.
import { count, duration } from "../base/format";
import type { Process, Thread } from "../data";

/** As on the terminal (launcher/summary/summary.c): from here on the mean distance is told. */
const STRETCHED = 1.25;

/** "9 425, one each 1.60 ms of CPU time (asked for: 1.00 ms)": long runs have samples further apart. */
export function samplesText(row: { samples: number | null; cpu_s: number | null; period_s: number | null }): string {
  if (!row.samples || !row.period_s) return count(row.samples);
  const mean = (row.cpu_s ?? 0) / row.samples;
  return mean > STRETCHED * row.period_s
    ? `${count(row.samples)}, one each ${duration(mean)} of CPU time (asked for: ${duration(row.period_s)})`
    : `${count(row.samples)}, one each ${duration(row.period_s)} of CPU time`;
}

export function commandName(row: Process): string {
  const words = (row.command ?? row.executable ?? "").split(" ");
  return (
    words.map((word) => (word.startsWith("/") ? word.split("/").pop() : word)).join(" ") || `pid ${row.pid}`
  );
}

export function endText(row: { cause: string | null; exit_status: number | null }): string {
  if (row.cause === null) return "–";
  return row.cause.includes("exit") ? `${row.cause} ${row.exit_status ?? ""}`.trim() : row.cause;
}

export function threadName(thread: Thread): string {
  return (
    thread.name ||
    (thread.is_main
      ? "main thread"
      : thread.thread === 0
        ? "(short threads)"
        : `thread ${thread.tid ?? thread.thread}`)
  );
}
