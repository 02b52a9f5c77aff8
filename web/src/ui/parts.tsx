// SPDX-License-Identifier: Apache-2.0
// Small things that several views are made of.
import type { ComponentChildren, JSX } from "preact";
import { baseName, column, seconds, share } from "../base/format";
import { link } from "../base/route";

export type Kind = "python" | "native" | "system" | "wait" | "delay";

export const KIND_NAMES: Record<Kind, string> = {
  python: "Python",
  native: "native",
  system: "system",
  wait: "waiting",
  delay: "ready to run",
};

export interface Split {
  python?: number | null;
  native?: number | null;
  system?: number | null;
  wait?: number | null;
  delay?: number | null;
}

const KINDS: Kind[] = ["python", "native", "system", "wait", "delay"];

export function splitText(split: Split): string {
  const parts = KINDS.filter((kind) => split[kind]).map(
    (kind) => `${KIND_NAMES[kind]} ${seconds(split[kind]!)}`,
  );
  return parts.join(", ") || "nothing";
}

/** A bar of the kinds of time; `whole` is what its full width stands for. */
export function Bar({ split, whole, tall }: { split: Split; whole: number; tall?: boolean }): JSX.Element {
  return (
    <span class={tall ? "bar tall" : "bar"} role="img" aria-label={splitText(split)} title={splitText(split)}>
      {KINDS.map((kind) => {
        const part = whole > 0 ? (split[kind] ?? 0) / whole : 0;
        return part > 0 ? (
          <span class={`part ${kind}`} style={{ width: `${100 * Math.min(1, part)}%` }} />
        ) : null;
      })}
    </span>
  );
}

/** A bar of one colour, behind its number. */
export function Meter({
  value,
  whole,
  text,
}: {
  value: number | null;
  whole: number;
  text: string;
}): JSX.Element {
  const part = value && whole > 0 ? Math.min(1, Math.max(0, value / whole)) : 0;
  return (
    <span class="meter">
      <span class="level" style={{ width: `${100 * part}%` }} aria-hidden="true" />
      <span class="value">{text}</span>
    </span>
  );
}

export function Legend({
  kinds,
  values,
  whole,
}: {
  kinds: Kind[];
  values?: Split;
  whole?: number;
}): JSX.Element {
  return (
    <ul class="legend">
      {kinds.map((kind) => (
        <li>
          <span class={`dot ${kind}`} aria-hidden="true" />
          <span class="name">{KIND_NAMES[kind]}</span>
          {values && <span class="num">{seconds(values[kind] ?? null)}</span>}
          {values && whole ? <span class="num dim">{share((values[kind] ?? 0) / whole, 0)}</span> : null}
        </li>
      ))}
    </ul>
  );
}

export function placeText(file: string | null, line: number | null): string {
  if (!file) return "no line";
  return line === null ? baseName(file) : `${baseName(file)}:${line}`;
}

const LETTER_PX = 7.4;

/** Of a column of places: the longest fits, within reason. */
export function placeWidth(texts: readonly string[]): number {
  const longest = texts.reduce((most, text) => Math.max(most, text.length), 0);
  return Math.round(Math.max(90, Math.min(innerWidth < 700 ? 150 : 240, longest * LETTER_PX + 6)));
}

/** A line of source, as a link to it. */
export function Place({
  file,
  line,
  quiet,
}: {
  file: string | null;
  line: number | null;
  quiet?: boolean;
}): JSX.Element {
  if (!file || line === null) return <span class="place">{placeText(file, line)}</span>;
  return (
    <a
      class="place"
      href={link("source", { file, line: `${line}` })}
      title={`${file}:${line}`}
      tabIndex={quiet ? -1 : undefined}
    >
      {placeText(file, line)}
    </a>
  );
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <p class="nothing">{children}</p>;
}

export function Section({
  title,
  note,
  children,
  cls,
}: {
  title: string;
  note?: ComponentChildren;
  children: ComponentChildren;
  cls?: string;
}): JSX.Element {
  return (
    <section class={cls}>
      <h2>
        {title}
        {note !== undefined && note !== null && <small>{note}</small>}
      </h2>
      {children}
    </section>
  );
}

export interface Choice {
  value: string;
  title: string;
  about?: string;
  off?: boolean;
}

/** One of a few, as radio buttons that look like one strip. */
export function Strip({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: Choice[];
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  const name = `strip-${label}`.replaceAll(" ", "-");
  return (
    <fieldset class="strip">
      <legend class="unseen">{label}</legend>
      {choices.map((choice) => (
        <label title={choice.about}>
          <input
            type="radio"
            name={name}
            checked={choice.value === value}
            disabled={choice.off}
            onChange={() => onChange(choice.value)}
          />
          <span>{choice.title}</span>
        </label>
      ))}
    </fieldset>
  );
}

export function Switch({
  label,
  on,
  onChange,
  about,
}: {
  label: string;
  on: boolean;
  onChange: (on: boolean) => void;
  about?: string;
}): JSX.Element {
  return (
    <label class="switch" title={about}>
      <input type="checkbox" checked={on} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

export function Pick({
  label,
  choices,
  value,
  onChange,
}: {
  label: string;
  choices: Choice[];
  value: string;
  onChange: (value: string) => void;
}): JSX.Element {
  return (
    <label class="pick">
      <span class="unseen">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {choices.map((choice) => (
          <option value={choice.value} selected={choice.value === value} disabled={choice.off}>
            {choice.title}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Names and values, one below the other. */
export function Facts({ facts }: { facts: [string, ComponentChildren][] }): JSX.Element {
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export { column };
