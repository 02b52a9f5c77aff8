// SPDX-License-Identifier: Apache-2.0
// Of a page from `pieprof serve`: how new its figures are, and a way to hold them still.
import type { JSX } from "preact";
import { live, paused } from "../data/live";

function clockTime(date: Date): string {
  const two = (value: number) => `${value}`.padStart(2, "0");
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(":");
}

const WORDS = {
  live: "live, updated",
  silent: "silent, as of",
  ended: "ended, as of",
  lost: "no answer, as of",
};

const ABOUT = {
  live: "The program runs; new figures come as it writes them",
  silent:
    "The run has no end, and nothing has been written for ten seconds: it is busy, stands still, or was killed",
  ended: "All processes of the run have ended",
  lost: "The server has ended, or cannot read the profile",
};

export function pause(): void {
  if (live.value) paused.value = !paused.value;
}

export function LiveState(): JSX.Element | null {
  const now = live.value;
  if (!now) return null;
  const words = paused.value ? "paused, as of" : WORDS[now.state];
  return (
    <p class={`live is-${paused.value ? "paused" : now.state}`} data-tag={now.tag}>
      <span class="dot" aria-hidden="true" />
      <span title={now.why || ABOUT[now.state]}>{`${words} ${clockTime(now.at)}`}</span>
      <button type="button" onClick={pause} title="Hold the figures still (p)">
        {paused.value ? "Go on" : "Pause"}
      </button>
    </p>
  );
}
