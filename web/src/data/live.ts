// SPDX-License-Identifier: Apache-2.0
// A page from `pieprof serve` asks for its data again and again, as long as somebody looks at it. Each answer is one
// state of the profile, and nothing is sent where it is the state that the page has.
import { signal } from "@preact/signals";
import { adjust, param, route } from "../base/route";
import type { PageData } from "../data";
import { open, profile } from "./profile";

/** What the element has for data in such a page. */
export interface Served {
  served: true;
}

export interface Live {
  /** silent: the run has no end, but nothing has been written lately; lost: no answer comes. */
  state: "live" | "silent" | "ended" | "lost";
  /** When the data that are shown came. */
  at: Date;
  /** Names the state of the profile that is shown. */
  tag: string;
  why: string;
}

/** null: a page from disk. */
export const live = signal<Live | null>(null);
export const paused = signal(false);

/** A program writes once a second, a busy one later. */
const SILENT_S = 10;
const SOON_MS = 1000;
const LATER_MS = 5000;
/** Making the data may take a tenth of a processor. */
const SHARE = 10;

interface Answer {
  /** null: those that the page has. */
  data: PageData | null;
  tag: string;
  quiet_s: number;
  cost_ms: number;
}

function time(headers: Headers, name: string): number {
  return Date.parse(headers.get(name) ?? "") / 1000;
}

async function ask(tag: string): Promise<Answer> {
  const response = await fetch("data", { headers: tag ? { "If-None-Match": tag } : {}, cache: "no-store" });
  const { headers } = response;
  if (response.status !== 304 && !response.ok) throw new Error((await response.text()).trim());
  return {
    data: response.status === 304 ? null : ((await response.json()) as PageData),
    tag: headers.get("ETag") ?? "",
    quiet_s: time(headers, "Date") - time(headers, "Last-Modified"),
    cost_ms: Number(/dur=([\d.]+)/.exec(headers.get("Server-Timing") ?? "")?.[1] ?? 0),
  };
}

function hasEnded(data: PageData): boolean {
  return data.processes.cause.every((cause) => cause !== null);
}

/** Without a choice a view shows the costliest file. It is kept where another one becomes that. */
function keepFile(): void {
  const { source } = profile().data;
  const first = source.files.path.length > 0 ? profile().text(source.files.path[0]) : null;
  if (route.value.view === "source" && !param("file") && first) adjust({ file: first });
}

function take(answer: Answer): void {
  const before = live.value;
  if (answer.data) {
    if (before) keepFile();
    open(answer.data);
  }
  const state = hasEnded(profile().data) ? "ended" : answer.quiet_s < SILENT_S ? "live" : "silent";
  live.value = {
    state,
    at: answer.data || !before ? new Date() : before.at,
    tag: answer.data || !before ? answer.tag : before.tag,
    why: "",
  };
}

/** Milliseconds until the next question. */
async function look(): Promise<number> {
  const before = live.value;
  if (paused.value || document.hidden) return SOON_MS;
  try {
    const answer = await ask(before?.tag ?? "");
    if (paused.value) return SOON_MS; // meanwhile
    take(answer);
    const wait = live.value?.state === "ended" ? LATER_MS : SOON_MS;
    return Math.max(wait, SHARE * answer.cost_ms);
  } catch (error) {
    if (before) live.value = { ...before, state: "lost", why: `${(error as Error).message}` };
    return LATER_MS;
  }
}

/** The first data, or why there are none; from then on the page looks for more. */
export async function follow(): Promise<void> {
  take(await ask(""));
  const again = async () => {
    setTimeout(again, await look());
  };
  setTimeout(again, SOON_MS);
}
