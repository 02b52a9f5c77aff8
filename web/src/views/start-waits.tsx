// SPDX-License-Identifier: Apache-2.0
// Why it waits: the causes, the longest first, each with the line that waited longest for it.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { plural, seconds, share } from "../base/format";
import type { PageData, WaitCause } from "../data";
import type { Profile } from "../data/profile";
import { causeOf, type LineWaits, ownWaits, runCauses } from "../data/waits";
import { Meter, Place, Section } from "../ui/parts";

const CAUSES_SHOWN = 4;
const SHARE_MIN = 0.01;

interface Row {
  cause: WaitCause;
  top: LineWaits | null;
}

function amount(line: LineWaits, cause: string): number {
  return line.causes.find(([name]) => name === cause)?.[1] ?? 0;
}

function rowsOf(data: PageData): Row[] {
  const lines = ownWaits(data);
  return runCauses(data)
    .filter((one) => (one.wait_share ?? 0) >= SHARE_MIN)
    .slice(0, CAUSES_SHOWN)
    .map((cause) => {
      const [top] = lines
        .filter((line) => amount(line, cause.cause) > 0)
        .sort((a, b) => amount(b, cause.cause) - amount(a, cause.cause));
      return { cause, top: top ?? null };
    });
}

/** Nothing where hardly anything was waited, or nobody knows for what. */
export function Waits({ of }: { of: Profile }): JSX.Element | null {
  const all = useMemo(() => rowsOf(of.data), [of]);
  if (all.length === 0) return null;
  return (
    <Section
      title="Why it waits"
      note={of.data.run.threads > 1 ? `all ${plural(of.data.run.threads, "thread")}` : null}
    >
      <ul class="causes">
        {all.map(({ cause, top }) => (
          <li title={top?.most.resource ?? undefined}>
            <span class="name">{causeOf(cause.cause).words}</span>
            <Place file={top?.file ?? null} line={top?.line ?? null} />
            <span class="num">{seconds(cause.wait_s)}</span>
            <Meter value={cause.wait_share} whole={1} text={share(cause.wait_share, 0)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}
