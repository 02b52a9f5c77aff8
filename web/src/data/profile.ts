// SPDX-License-Identifier: Apache-2.0
// The profile that the page is about: its tables as rows, and the texts, without what could harm the reader.
import { signal } from "@preact/signals";
import { printable } from "../base/format";
import type { PageData, Table } from "../data";
import { Tree } from "./tree";

/** Every text of it, printable. Tabs of source lines stay: they are the program's indentation. */
function cleaned<T>(value: T, key = ""): T {
  if (typeof value === "string")
    return (key === "text" ? value.split("\t").map(printable).join("\t") : printable(value)) as T;
  if (Array.isArray(value)) {
    if (value.length > 0 && typeof value[0] === "number") return value;
    return value.map((item) => cleaned(item, key)) as T;
  }
  if (value && typeof value === "object")
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, cleaned(item, name)])) as T;
  return value;
}

export function rowCount<Row>(table: Table<Row> | undefined): number {
  const columns = Object.values(table ?? {}) as unknown[][];
  return columns[0]?.length ?? 0;
}

/** The rows of a table of columns, as objects. */
export function rows<Row>(table: Table<Row> | undefined): Row[] {
  const columns = Object.entries(table ?? {}) as [string, unknown[]][];
  return Array.from({ length: rowCount(table) }, (_, i) => {
    const row: Record<string, unknown> = {};
    for (const [name, values] of columns) row[name] = values[i];
    return row as Row;
  });
}

export class Profile {
  readonly data: PageData;
  readonly tree: Tree;

  constructor(data: PageData) {
    this.data = cleaned(data);
    this.tree = new Tree(this.data);
  }

  text(index: number | null | undefined): string | null {
    return index === null || index === undefined ? null : (this.data.strings[index] ?? null);
  }

  /** "12 of 5000 rows by CPU time", or null: nothing of the table was cut. */
  cutOf(table: string): string | null {
    const cut = this.data.cut?.[table];
    return cut ? `${cut.rows} of ${cut.rows_total}, by ${cut.order}` : null;
  }
}

const opened = signal<Profile | null>(null);

export function open(data: PageData): Profile {
  const next = new Profile(data);
  opened.value = next;
  return next;
}

/** The one that the page is about; what shows it is painted again when newer data of it come. */
export function profile(): Profile {
  if (!opened.value) throw new Error("no profile is open");
  return opened.value;
}
