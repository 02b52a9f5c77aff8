// SPDX-License-Identifier: Apache-2.0
// A measure's value of each calling context, in what is chosen; each is worked out once.
import { costs } from "./filter";
import { type Measure, measure, scaled, sum } from "./measures";
import { profile } from "./profile";
import type { Costs } from "./tree";

let known: { of: Costs; values: Map<string, Float64Array | null> } | null = null;

/** Waste is known of the whole run. */
function wasted(): Float64Array | null {
  const { tree } = profile();
  if (costs.value === tree.whole) return tree.whole.wasted;
  const cpu = measure("cpu").of;
  return scaled(tree.whole.wasted, sum(tree.whole, cpu), sum(costs.value, cpu));
}

export function valuesOf(of: Measure): Float64Array | null {
  if (known?.of !== costs.value) known = { of: costs.value, values: new Map() };
  if (!known.values.has(of.id)) {
    const values = of.id === "wasted" ? wasted() : sum(costs.value, of.of);
    known.values.set(of.id, values);
  }
  return known.values.get(of.id)!;
}
