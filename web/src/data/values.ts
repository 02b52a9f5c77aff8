// SPDX-License-Identifier: Apache-2.0
// A measure's value of each calling context, in what is chosen; each is worked out once.
import type { Finding } from "../data";
import { costs } from "./filter";
import { type Measure, spread, sum, type WastedLine } from "./measures";
import { profile, rows } from "./profile";
import type { Costs } from "./tree";

let known: { of: Costs; values: Map<string, Float64Array | null> } | null = null;

/** Each line once, and only what is waste for certain. */
function wastedLines(): WastedLine[] {
  return rows<Finding>(profile().data.findings)
    .filter((one) => one.severity === "high" && one.file && one.line && one.wasted_s)
    .map((one) => ({ file: one.file!, line: one.line!, wasted_s: one.wasted_s! }));
}

/** Waste is known of the whole run: a part of it has what its CPU time is of the line's. */
function wasted(): Float64Array | null {
  const { tree } = profile();
  const whole = sum(tree.whole, ["python", "native", "system"]);
  const all = spread(tree, whole, wastedLines());
  if (!all || costs.value === tree.whole) return all;
  const now = sum(costs.value, ["python", "native", "system"]);
  return now ? all.map((value, node) => (whole![node] > 0 ? (value * now[node]) / whole![node] : 0)) : null;
}

export function valuesOf(measure: Measure): Float64Array | null {
  if (known?.of !== costs.value) known = { of: costs.value, values: new Map() };
  if (!known.values.has(measure.id)) {
    const values = measure.id === "wasted" ? wasted() : sum(costs.value, measure.of);
    known.values.set(measure.id, values);
  }
  return known.values.get(measure.id)!;
}
