// SPDX-License-Identifier: Apache-2.0
// How processes and threads are called.
import type { Process, Thread } from "../data";

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
