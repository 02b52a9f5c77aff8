// SPDX-License-Identifier: Apache-2.0
// The columns of a table, and the order of its rows.
import type { ComponentChildren, JSX } from "preact";
import type { Width } from "./window";

export interface Column<Row> extends Width {
  key: string;
  title: string;
  about?: string;
  number?: boolean;
  cell: (row: Row) => ComponentChildren;
  sort?: (row: Row) => number | string | null;
}

export interface Order {
  key: string;
  down: boolean;
}

/** A row without a value comes last, either way. */
export function ordered<Row>(rows: Row[], columns: Column<Row>[], order: Order | null): Row[] {
  const by = order && columns.find((column) => column.key === order.key)?.sort;
  if (!by) return rows;
  const sign = order.down ? -1 : 1;
  return rows
    .map((row) => ({ row, value: by(row) }))
    .sort((a, b) => {
      if (a.value === null || b.value === null) return a.value === b.value ? 0 : a.value === null ? 1 : -1;
      return a.value < b.value ? -sign : a.value > b.value ? sign : 0;
    })
    .map((item) => item.row);
}

export function Head<Row>({
  column,
  order,
  setOrder,
}: {
  column: Column<Row>;
  order: Order | null;
  setOrder: ((order: Order) => void) | null;
}): JSX.Element {
  const isBy = order?.key === column.key;
  const sorting = isBy ? (order.down ? "descending" : "ascending") : undefined;
  const turn = () => setOrder?.({ key: column.key, down: isBy ? !order.down : Boolean(column.number) });
  return (
    <div role="columnheader" aria-sort={sorting} class={column.number ? "num" : "text"} title={column.about}>
      {setOrder && column.sort ? (
        <button type="button" class="sort" tabIndex={-1} onClick={turn}>
          {column.title}
          {isBy && <span aria-hidden="true">{order.down ? " ↓" : " ↑"}</span>}
        </button>
      ) : (
        column.title
      )}
    </div>
  );
}
