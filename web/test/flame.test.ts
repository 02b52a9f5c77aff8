// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import { measure, scaled, sum } from "../src/data/measures";
import { Profile } from "../src/data/profile";
import { lineKinds } from "../src/flame/bylines";
import { carried } from "../src/flame/carry";
import { flatten } from "../src/flame/flat";
import { boxAt, layout } from "../src/flame/layout";
import { bottomUp, kinds, type Merged, sandwich, topDown } from "../src/flame/merge";
import { matched, matcher } from "../src/flame/search";
import { made } from "./made";

const { tree } = new Profile(made());
const cpu = sum(tree.whole, measure("cpu").of)!;
const all = kinds(tree, { native: true, folded: false });

/** { "main.py": { work: … } } as paths: "<module> main.py/work=5.5". */
function paths(merged: Merged, node = 0, above = ""): string[] {
  return merged.children[node].flatMap((child) => {
    const path = `${above}${merged.kinds.labels[merged.kind[child]]}`;
    return [`${path}=${+merged.total[child].toFixed(6)}`, ...paths(merged, child, `${path} / `)];
  });
}

test("lines of one function are one frame, and the sum is the run's", () => {
  const merged = topDown(tree, all, cpu);
  assert.equal(merged.total[0], 10);
  assert.equal(merged.children[0].length, 1);
  const found = paths(merged);
  assert.ok(found.includes("<module> main.py / work / helper / fast_add / (no symbol) Fast-Lib=1"));
  assert.ok(found.includes("<module> main.py / fib / fib=2"));
  assert.ok(found.includes("<module> main.py / (what was cut)=0.25"));
});

test("without native frames their time is that of the line that called them", () => {
  const merged = topDown(tree, kinds(tree, { native: false, folded: false }), cpu);
  assert.ok(paths(merged).includes("<module> main.py / work / helper=4.5"));
  assert.equal(merged.total[0], 10);
});

test("a folded library is one frame, however deep it goes", () => {
  const merged = topDown(tree, kinds(tree, { native: true, folded: true }), cpu);
  const found = paths(merged).filter((path) => path.includes("Fast-Lib"));
  assert.deepEqual(found, ["<module> main.py / work / [Fast-Lib]=4.5"]);
});

test("inverted, each function that spends comes first and its callers are below it", () => {
  const found = paths(bottomUp(tree, all, cpu));
  assert.ok(found.includes("fast_add=3"));
  assert.ok(found.includes("fast_add / helper / work / <module> main.py=3"));
  assert.ok(found.includes("fib=3"));
});

test("a sandwich counts recursion once", () => {
  const fib = all.labels.indexOf("fib");
  const { callers, callees } = sandwich(tree, all, cpu, fib);
  assert.deepEqual(paths(callers), ["fib=3", "fib / <module> main.py=3"]);
  assert.deepEqual(paths(callees), ["fib=3", "fib / fib=2"]);
});

test("the list of functions has each with all below it", () => {
  const row = (label: string) => flatten(tree, cpu, all).find((one) => all.labels[one.kind] === label);
  assert.deepEqual({ total: row("fib")?.total, self: row("fib")?.self }, { total: 3, self: 3 });
  assert.deepEqual({ total: row("work")?.total, self: row("work")?.self }, { total: 5.5, self: 1 });
});

test("frames by line tell two lines of a function apart", () => {
  const merged = bottomUp(tree, lineKinds(tree), cpu);
  const module = paths(topDown(tree, lineKinds(tree), cpu)).filter((path) => !path.includes("/"));
  assert.equal(merged.total[0], 10);
  assert.deepEqual(module, ["<module> main.py=6", "<module> main.py=4"]);
});

test("boxes lie side by side below their caller, and thin ones are left out", () => {
  const merged = topDown(tree, all, cpu);
  const boxes = layout(merged, 0, 0);
  assert.equal(boxes.length, merged.parent.length);
  assert.equal(boxAt(boxes, 1, 0.5)?.node, merged.children[0][0]);
  assert.equal(boxAt(boxes, 2, 0.1)?.node, merged.children[merged.children[0][0]][0]);
  assert.ok(layout(merged, 0, 0.05).length < boxes.length);
  const focus = merged.children[merged.children[0][0]][0];
  assert.deepEqual(
    layout(merged, focus, 0)
      .slice(0, 3)
      .map((box) => box.width),
    [1, 1, 1],
  );
  assert.equal(layout(merged, focus, 0, focus)[0].node, focus);
});

test("search adds up what matches, of calls within calls the outermost", () => {
  const merged = topDown(tree, all, cpu);
  assert.equal(matched(merged, matcher("FIB")!), 3);
  assert.equal(matched(merged, matcher("work")!), 5.5);
  assert.equal(matcher("  "), null);
});

test("waste is the profile's by call path, of a part of the run by its CPU time", () => {
  const wasted = tree.whole.wasted!;
  assert.equal(+tree.totals(wasted)[0].toFixed(6), 4, "line 12, and the library's line that it led to: once");
  const half = scaled(
    wasted,
    cpu,
    cpu.map((value, node) => (node === 4 ? value / 2 : 0)),
  )!;
  assert.equal(+half[4].toFixed(6), +(wasted[4] / 2).toFixed(6));
  assert.equal(tree.totals(half)[0], half[4]);
  assert.equal(scaled(null, cpu, cpu), null);
});

/** The names along the way to a node. */
function way(merged: Merged, node: number): string[] {
  return node > 0 ? [...way(merged, merged.parent[node]), merged.kinds.labels[merged.kind[node]]] : [];
}

test("a frame is found again by its call path, though all numbers have changed", () => {
  const before = topDown(tree, all, cpu);
  const after = bottomUp(tree, kinds(tree, { native: true, folded: true }), cpu);
  const same = topDown(tree, kinds(tree, { native: true, folded: false }), cpu.toReversed());
  const helper = before.kind.findIndex((kind) => before.kinds.labels[kind] === "helper");
  assert.deepEqual(way(before, helper), ["<module> main.py", "work", "helper"]);
  assert.deepEqual(way(same, carried(before, helper, same)), way(before, helper));
  assert.equal(carried(before, helper, after), 0);
  assert.equal(carried(before, 0, same), 0);
});
