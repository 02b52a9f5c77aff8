// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bytes,
  clock,
  column,
  commonFolder,
  count,
  duration,
  NONE,
  printable,
  seconds,
  share,
} from "../src/base/format";
import { parse, write } from "../src/base/route";
import { columnsThatFit, windowOf } from "../src/ui/window";

/** With plain blanks, as people type them. */
const plain = (text: string) => text.replaceAll("\u00a0", " ");

test("bytes are scaled as on the terminal: three digits, and the next unit instead of four", () => {
  const cases: [number, string][] = [
    [0, "0 B"],
    [999, "999 B"],
    [999.6, "1.00 kB"],
    [12_900_000, "12.9 MB"],
    [999_400, "999 kB"],
    [999_500, "1.00 MB"],
    [456e6, "456 MB"],
    [19.9e9, "19.9 GB"],
    [-3e6, "-3.00 MB"],
  ];
  for (const [value, text] of cases) assert.equal(plain(bytes(value)), text);
  assert.equal(bytes(null), NONE);
});

test("durations have the unit that fits", () => {
  const cases: [number, string][] = [
    [168e-9, "168 ns"],
    [7.57e-6, "7.57 us"],
    [0.527, "527 ms"],
    [11.14, "11.1 s"],
    [0.9996, "1.00 s"],
  ];
  for (const [value, text] of cases) assert.equal(plain(duration(value)), text);
});

test("a missing figure is never 0", () => {
  assert.deepEqual(
    [seconds(null), column(null), share(null), count(null), duration(null)],
    [NONE, NONE, NONE, NONE, NONE],
  );
  assert.equal(column(0), "0.000");
});

test("counts have groups, shares a digit, points in time the unit that fits", () => {
  assert.equal(plain(count(1234567)), "1 234 567");
  assert.equal(plain(count(999)), "999");
  assert.equal(plain(share(0.8671)), "86.7 %");
  assert.deepEqual(
    [4.25, 61, 187, 7510].map((t) => plain(clock(t))),
    ["4.25 s", "61.0 s", "3:07 min", "2:05:10 h"],
  );
});

test("a name cannot steer the text around it", () => {
  assert.equal(printable("a\u202eb\u0007c\nd\te"), "a\ufffdb\ufffdc↵d e");
  assert.equal(printable("grün 中 <b>"), "grün 中 <b>");
});

test("the common folder ends where the first path differs", () => {
  assert.equal(commonFolder(["/a/b/c.py", "/a/b/d/e.py"]), "/a/b/");
  assert.equal(commonFolder(["/a/b.py", "/c.py"]), "");
  assert.equal(commonFolder(["/a/b.py", "<string>"]), "");
  assert.equal(commonFolder(["<string>", "/a/b.py"]), "");
  assert.equal(commonFolder([]), "");
});

test("an address leads back to where it was made, whatever a path has in it", () => {
  for (const file of ["/app/a b.py", "/x/?&=#%.py", '/"</script>\u202e.py']) {
    const route = { view: "source", params: { file, line: "12" } };
    assert.deepEqual(parse(write(route)), route);
  }
  assert.equal(write({ view: "flame", params: { by: "" } }), "#/flame");
  assert.deepEqual(parse(""), { view: "start", params: {} });
});

test("of a long table only the rows around the sight are made", () => {
  assert.deepEqual(windowOf(2800, 280, 28, 100_000), { first: 94, last: 116 });
  assert.deepEqual(windowOf(0, 280, 28, 3), { first: 0, last: 3 });
});

test("columns leave from the highest rank on, and come back in their order", () => {
  const columns = [
    { width: 50, rank: 2 },
    { width: 100, rank: 0 },
    { width: 50, rank: 1 },
  ];
  assert.deepEqual(columnsThatFit(columns, 240), columns);
  assert.deepEqual(columnsThatFit(columns, 239), [columns[1], columns[2]]);
  assert.deepEqual(columnsThatFit(columns, 60), [columns[1]]);
});
