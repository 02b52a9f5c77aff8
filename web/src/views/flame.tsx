// SPDX-License-Identifier: Apache-2.0
// Who calls what, and what it costs: as a flame graph or icicle, or around one function, over any measure.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { share } from "../base/format";
import { adjust, param } from "../base/route";
import { MEASURES, measure, type Measure, withUnit } from "../data/measures";
import { profile } from "../data/profile";
import { valuesOf } from "../data/values";
import { FlameCanvas } from "../flame/canvas";
import { useNodes } from "../flame/carry";
import { type FlatRow, flatten } from "../flame/flat";
import { bottomUp, kinds, type Merged, sandwich, topDown } from "../flame/merge";
import { matched, matcher } from "../flame/search";
import { MergedTable } from "../flame/table";
import { Empty, Pick, Strip, Switch } from "../ui/parts";

const MODES = [
  { value: "icicle", title: "Icicle", about: "Callers on top" },
  { value: "flame", title: "Flame", about: "Callers at the bottom" },
  { value: "sandwich", title: "Sandwich", about: "Callers and callees of one function" },
];

function Toolbar({ by, mode }: { by: Measure; mode: string }): JSX.Element {
  const flag = (name: string) => param(name) === "1";
  const set = (name: string) => (on: boolean) => adjust({ [name]: on ? "1" : "" });
  const choices = MEASURES.map((one) => ({ value: one.id, title: one.title, off: valuesOf(one) === null }));
  return (
    <div class="tools">
      <Pick label="Measure" choices={choices} value={by.id} onChange={(value) => adjust({ by: value })} />
      <Strip label="Form" choices={MODES} value={mode} onChange={(value) => adjust({ mode: value })} />
      <Switch
        label="native"
        on={!flag("nonative")}
        onChange={(on) => adjust({ nonative: on ? "" : "1" })}
        about="Frames of native code"
      />
      <Switch
        label="fold libraries"
        on={flag("fold")}
        onChange={set("fold")}
        about="One frame for each library"
      />
      <Switch
        label="inverted"
        on={flag("inverted")}
        onChange={set("inverted")}
        about="From where the time is spent up to its callers"
      />
      <input
        type="search"
        class="search"
        placeholder="Search functions"
        aria-label="Search functions"
        value={param("q")}
        onInput={(event) => adjust({ q: event.currentTarget.value })}
      />
    </div>
  );
}

function describe(merged: Merged, by: Measure, whole: number): (node: number) => string {
  const { tree } = profile();
  return (node) => {
    const kind = merged.kind[node];
    if (kind < 0) return `all: ${withUnit(by.unit, merged.total[node])}`;
    const fn = merged.kinds.fns[kind];
    const place = [tree.library(fn), tree.file(fn), tree.module(fn)].filter(Boolean).join("\n");
    const part = share(whole > 0 ? merged.total[node] / whole : null);
    return `${merged.kinds.labels[kind]}\n${withUnit(by.unit, merged.total[node])}, ${part}; itself ${withUnit(by.unit, merged.self[node])}${place ? `\n${place}` : ""}`;
  };
}

export function Flame(): JSX.Element {
  const by = measure(param("by"));
  const mode = param("mode") || "icicle";
  const values = valuesOf(by);
  return (
    <div class="view flame-view">
      <Toolbar by={by} mode={mode} />
      {values === null ? (
        <Empty>{missing(by)}</Empty>
      ) : mode === "sandwich" ? (
        <SandwichView by={by} values={values} />
      ) : (
        <OneTree by={by} values={values} upwards={mode === "flame"} />
      )}
    </div>
  );
}

function missing(by: Measure): string {
  if (param("t") || param("of"))
    return `${by.title} is known of the whole run only: “Whole run” above takes the choice back.`;
  return `The profile has no figures of “${by.title}”.`;
}

function useShape() {
  const native = param("nonative") !== "1";
  const folded = param("fold") === "1";
  return useMemo(() => kinds(profile().tree, { native, folded }), [profile().tree, native, folded]);
}

/** A frame that the picture begins with, and one that is looked at. */
interface Chosen {
  focus: number;
  current: number | null;
}

function OneTree({
  by,
  values,
  upwards,
}: {
  by: Measure;
  values: Float64Array;
  upwards: boolean;
}): JSX.Element {
  const { tree } = profile();
  const shape = useShape();
  const inverted = param("inverted") === "1";
  const merged = useMemo(
    () => (inverted ? bottomUp(tree, shape, values) : topDown(tree, shape, values)),
    [shape, values, inverted],
  );
  const [now, choose] = useNodes<Chosen>(merged, { focus: 0, current: null }, (chosen, to) => ({
    focus: to(chosen.focus),
    current: (chosen.current && to(chosen.current)) || null,
  }));
  const query = param("q");
  const matches = useMemo(() => matcher(query), [query]);
  const whole = merged.total[0];
  const setCurrent = (node: number) => choose({ ...now, current: node || null });
  const setFocus = (node: number) => choose({ focus: node === now.focus ? 0 : node, current: node || null });
  if (!(whole > 0)) return <Empty>Nothing of “{by.title}” is in what is chosen.</Empty>;
  return (
    <>
      <FlameCanvas
        merged={merged}
        focus={now.focus}
        current={now.current}
        matches={matches}
        upwards={upwards}
        say={describe(merged, by, whole)}
        onCurrent={setCurrent}
        onFocus={setFocus}
      />
      <p class="status" aria-live="polite">
        <span>
          {withUnit(by.unit, whole)} {by.about}
        </span>
        {matches && <strong>{`matching: ${share(matched(merged, matches) / whole)}`}</strong>}
        {now.focus > 0 && (
          <button type="button" class="link" onClick={() => setFocus(0)}>
            Show all
          </button>
        )}
        {now.current && merged.kinds.fns[merged.kind[now.current]] >= 0 && (
          <button
            type="button"
            class="link"
            onClick={() => adjust({ mode: "sandwich", fn: merged.kinds.keys[merged.kind[now.current!]] })}
          >
            Callers and callees
          </button>
        )}
        <span class="hint">Enter or double click: zoom</span>
      </p>
      <MergedTable
        label={`${by.title} by call path`}
        merged={merged}
        root={now.focus}
        measure={by}
        whole={whole}
        current={now.current}
        onCurrent={setCurrent}
        onOpen={setFocus}
        empty="Nothing is below this."
      />
    </>
  );
}

function SandwichView({ by, values }: { by: Measure; values: Float64Array }): JSX.Element {
  const { tree } = profile();
  const shape = useShape();
  const flat = useMemo(() => flatten(tree, values, shape), [values, shape]);
  const wanted = param("fn");
  // Without a choice: where most is spent, or for a function that the search found, any of its name.
  const costliest = flat.reduce<FlatRow | undefined>(
    (most, one) => (!most || one.self > most.self ? one : most),
    undefined,
  );
  const row =
    flat.find((one) => shape.keys[one.kind] === wanted) ??
    flat.find((one) => shape.labels[one.kind] === wanted) ??
    costliest;
  const kind = row?.kind ?? -1;
  const both = useMemo(() => sandwich(tree, shape, values, kind), [shape, values, kind]);
  if (!row) return <Empty>Nothing of “{by.title}” is in what is chosen.</Empty>;
  const whole = values.reduce((sum, value) => sum + value, 0);
  const matches = matcher(param("q"));
  const listed = flat.filter((one) => !matches || matches(shape.labels[one.kind])).slice(0, 400);
  return (
    <div class="sandwich">
      <label class="pick">
        <span>Around </span>
        <select value={shape.keys[kind]} onChange={(event) => adjust({ fn: event.currentTarget.value })}>
          {(listed.includes(row) ? listed : [row, ...listed]).map((one) => (
            <option value={shape.keys[one.kind]} selected={one === row}>
              {`${shape.labels[one.kind]}  ${withUnit(by.unit, one.total)}`}
            </option>
          ))}
        </select>
        <span class="dim">{` ${withUnit(by.unit, row.total)}, ${share(whole > 0 ? row.total / whole : null)}; itself ${withUnit(by.unit, row.self)}`}</span>
      </label>
      <Half
        title="Callers"
        merged={both.callers}
        by={by}
        whole={whole}
        upwards
        empty="Nothing calls it: it is where a thread begins."
      />
      <Half
        title="Callees"
        merged={both.callees}
        by={by}
        whole={whole}
        empty="It calls nothing that was seen."
      />
    </div>
  );
}

interface HalfProps {
  title: string;
  merged: Merged;
  by: Measure;
  whole: number;
  upwards?: boolean;
  empty: string;
}

/** The function itself is the only child of the root. */
function Half({ title, merged, by, whole, upwards, empty }: HalfProps): JSX.Element {
  const [node, setCurrent] = useNodes<number | null>(
    merged,
    null,
    (chosen, to) => (chosen && to(chosen)) || null,
  );
  const focus = merged.children[0][0] ?? 0;
  return (
    <section class="half">
      <h2>{title}</h2>
      <FlameCanvas
        merged={merged}
        focus={focus}
        top={focus}
        current={node}
        matches={null}
        upwards={Boolean(upwards)}
        say={describe(merged, by, whole)}
        onCurrent={(of) => setCurrent(of)}
        onFocus={(of) => merged.kind[of] >= 0 && adjust({ fn: merged.kinds.keys[merged.kind[of]] })}
      />
      {merged.children[focus].length === 0 ? (
        <Empty>{empty}</Empty>
      ) : (
        <MergedTable
          label={title}
          merged={merged}
          root={focus}
          measure={by}
          whole={whole}
          current={node}
          onCurrent={(of) => setCurrent(of)}
          onOpen={(of) => adjust({ fn: merged.kinds.keys[merged.kind[of]] })}
          hasSelf={title === "Callees"}
          empty={empty}
        />
      )}
    </section>
  );
}
