// SPDX-License-Identifier: Apache-2.0
// The findings as cards, the most valuable first.
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { plural } from "../base/format";
import { link } from "../base/route";
import type { PageData } from "../data";
import { type Card, cards } from "../data/findings";
import type { Profile } from "../data/profile";
import { Empty, Place, Section } from "../ui/parts";

const CARDS_SHOWN = 3;

function CardOf({ card, number, of }: { card: Card; number: number; of: Profile }): JSX.Element {
  const text = useMemo(() => lineText(of, card.file, card.line), [of, card.file, card.line]);
  const cls = card.verdict === "refuted" ? "refuted" : card.weight;
  return (
    <li class={`card ${cls}`}>
      <div class="about">
        <h3>
          <span class="what">{card.what}</span>
          {card.verdict && <span class={`verdict ${card.verdict}`}>{card.verdict}</span>}
        </h3>
        {card.file && (
          <p class="where">
            <Place file={card.file} line={card.line} />
            {card.inside && <span class="dim"> {card.inside}</span>}
            {card.finding !== null && card.file && (
              <a
                class="more"
                href={link("pairs", { finding: `${card.finding}` })}
                aria-label={`Pairs of finding ${number}`}
              >
                pairs
              </a>
            )}
            {text && <code title={text}>{text}</code>}
          </p>
        )}
        {card.tryThis && (
          <p class="try">
            <b>Try</b>
            <span>{card.tryThis}</span>
          </p>
        )}
        <p class="sure" title={card.evidence ?? undefined}>
          <b>Sure</b>
          <span>{card.sure}</span>
        </p>
      </div>
      {card.gain && (
        <p class="gain">
          <strong>{card.gain}</strong>
          <span>{card.gainAbout}</span>
        </p>
      )}
    </li>
  );
}

/** The text of a line, without what is before it; null: the page does not have it. */
function lineText(of: Profile, path: string | null, line: number | null): string | null {
  const { files, text } = of.data.source;
  const is = (i: number) => text.line[i] === line && of.text(files.path[text.file[i]]) === path;
  const at = line === null ? -1 : text.line.findIndex((_, i) => is(i));
  return at < 0 ? null : text.text[at].trim();
}

/** What the page says where nothing was found. */
function nothingFound(of: Profile): string {
  const { run } = of.data;
  if (run.sampler !== "none")
    return "No work of weight was found that is done again. The costliest lines are below.";
  return run.sampler_note ?? "Redundant work was not looked for in this run. The costliest lines are below.";
}

function unsure(of: Profile, card: Card): string {
  const likeliest = "Nothing is sure enough to act on; this is the likeliest.";
  if (card.finding === null || card.verdict) return likeliest;
  return `${likeliest} “pieprof confirm ${of.data.page.profile} --finding ${of.data.findings.rank[card.finding]}” counts its calls.`;
}

/** Do they take as much room as what is beside them? */
export function isTall(data: PageData): boolean {
  return cards(data).filter((card) => card.weight !== "low").length >= 2;
}

export function Findings({ of }: { of: Profile }): JSX.Element {
  const all = useMemo(() => cards(of.data), [of]);
  const [more, setMore] = useState(false);
  const strong = all.filter((card) => card.weight !== "low");
  const first = strong.length > 0 ? strong : all.slice(0, 1);
  const shown = more ? all : first.slice(0, CARDS_SHOWN);
  return (
    <Section
      title="What to change"
      note={all.length > 0 ? plural(all.length, "finding") : null}
      cls="findings"
    >
      {all.length === 0 && <Empty>{nothingFound(of)}</Empty>}
      {strong.length === 0 && first[0] && <p class="dim">{unsure(of, first[0])}</p>}
      <ol class="cards">
        {shown.map((card, i) => (
          <CardOf card={card} number={i + 1} of={of} />
        ))}
      </ol>
      {all.length > shown.length && (
        <button type="button" class="link" onClick={() => setMore(true)}>
          {`Show ${all.length - shown.length} more, of less weight or less sure`}
        </button>
      )}
    </Section>
  );
}
