// SPDX-License-Identifier: Apache-2.0
// A table, or a tree as a table, of any length: only the rows that are seen are in the page. One tab stop; arrows move,
// Enter opens, left and right fold and unfold.
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Column, Head, type Order, ordered } from "./grid-head";
import { onKey } from "./grid-keys";
import { type Branches, GridRow } from "./grid-row";
import { usePrinting, useSize } from "./sight";
import { columnsThatFit, scale, windowOf } from "./window";

export type { Branches, Column };

interface Props<Row> {
  label: string;
  columns: Column<Row>[];
  rows: Row[];
  id: (row: Row) => string;
  branches?: Branches<Row>;
  current?: string | null;
  onCurrent?: (row: Row) => void;
  onOpen?: (row: Row) => void;
  /** Rows that are shown before it scrolls; without, it takes the height that is there. */
  height?: number;
  empty: string;
  rowClass?: (row: Row) => string;
  start?: number;
  /** Height of a row in CSS pixels. */
  rowHeight?: number;
}

const ROW_PX = 28;
/** The head stays in sight above the rows; as in the style sheet. */
const HEAD_PX = 25;
const PRINTED_ROWS = 300;
/** Width of a sheet of A4 or letter within its margins, in CSS pixels. */
const PAPER_PX = 680;

let ids = 0;

/** The rows in their order, and which of them is current: the owner's choice, or the table's own. */
function useRows<Row>(props: Props<Row>) {
  const [order, setOrder] = useState<Order | null>(null);
  const [own, setOwn] = useState<string | null>(null);
  const rows = useMemo(() => ordered(props.rows, props.columns, order), [props.rows, props.columns, order]);
  const current = props.current === undefined ? own : props.current;
  const found = rows.findIndex((row) => props.id(row) === current);
  const sortNext = () => {
    const sortable = props.branches ? [] : props.columns.filter((column) => column.sort);
    const next = sortable[sortable.findIndex((column) => column.key === order?.key) + 1];
    setOrder(next ? { key: next.key, down: Boolean(next.number) } : null);
  };
  const turnOrder = () => order && setOrder({ ...order, down: !order.down });
  return {
    rows,
    at: Math.max(0, found),
    hasCurrent: found >= 0,
    order,
    setOrder,
    setOwn,
    sortNext,
    turnOrder,
  };
}

function scrollTo(element: HTMLElement | null, index: number, rowPx: number): void {
  if (!element) return;
  if (index * rowPx < element.scrollTop) element.scrollTop = index * rowPx;
  const below = HEAD_PX + (index + 1) * rowPx - element.clientHeight;
  if (below > element.scrollTop) element.scrollTop = below;
}

/** The part of the rows that is seen, and how the body scrolls. */
function useWindow<Row>(props: Props<Row>, count: number, rowPx: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const { width, height: room } = useSize(scroller);
  const [top, setTop] = useState(0);
  const printing = usePrinting();
  const height = props.height ? Math.min(props.height, Math.max(count, 1)) * rowPx : room - HEAD_PX;
  useLayoutEffect(() => {
    const start = props.start ?? 0;
    if (scroller.current && start > 0) scroller.current.scrollTop = Math.max(0, start * rowPx - height / 3);
  }, [props.start]);
  const seen = printing
    ? { first: 0, last: Math.min(count, PRINTED_ROWS) }
    : windowOf(top, height, rowPx, count);
  const fixed = printing || !props.height ? {} : { height: `${HEAD_PX + height}px` };
  return {
    scroller,
    width: printing ? PAPER_PX : width,
    height,
    seen,
    fixed,
    setTop,
    whole: printing ? "auto" : `${count * rowPx}px`,
  };
}

function templateOf<Row>(columns: Column<Row>[]): string {
  const width = (column: Column<Row>) =>
    column.grow ? `minmax(0, ${column.grow}fr)` : `${Math.round(column.width * scale())}px`;
  return columns.map(width).join(" ");
}

export function Grid<Row>(props: Props<Row>): JSX.Element {
  const { branches, id } = props;
  const [prefix] = useState(() => `g${++ids}`);
  const rowPx = Math.round((props.rowHeight ?? ROW_PX) * scale());
  const list = useRows(props);
  const { rows, at, hasCurrent } = list;
  const sight = useWindow(props, rows.length, rowPx);
  const { seen } = sight;
  const columns = useMemo(
    () => columnsThatFit(props.columns, sight.width / scale()),
    [props.columns, sight.width],
  );
  const template = templateOf(columns);
  const active = rows.length > 0 && at >= seen.first && at < seen.last ? `${prefix}-${at}` : undefined;

  // What is chosen elsewhere, in a picture say, comes into sight.
  useEffect(() => {
    if (props.current) scrollTo(sight.scroller.current, at, rowPx);
  }, [props.current, rows]);

  const move = (index: number) => {
    const to = Math.max(0, Math.min(rows.length - 1, index));
    if (rows.length === 0) return;
    list.setOwn(id(rows[to]));
    props.onCurrent?.(rows[to]);
    scrollTo(sight.scroller.current, to, rowPx);
  };
  const open = (row: Row) => (props.onOpen ?? props.onCurrent)?.(row);
  const page = Math.max(1, Math.floor(sight.height / rowPx) - 1);

  return (
    <div
      class={`grid${props.height ? "" : " fill"}`}
      style={{ "--row": `${rowPx}px`, "--tall": `${Math.max(3, rows.length) * rowPx}px` }}
    >
      <div
        role={branches ? "treegrid" : "grid"}
        aria-label={props.label}
        aria-rowcount={rows.length + 1}
        aria-colcount={columns.length}
        aria-activedescendant={active}
        tabIndex={0}
        class="rows"
        ref={sight.scroller}
        style={sight.fixed}
        onScroll={(event) => sight.setTop(event.currentTarget.scrollTop)}
        onKeyDown={onKey({ ...list, page, branches, move, open })}
      >
        <div role="rowgroup" class="head">
          <div role="row" aria-rowindex={1} class="row" style={{ gridTemplateColumns: template }}>
            {columns.map((column) => (
              <Head column={column} order={list.order} setOrder={branches ? null : list.setOrder} />
            ))}
          </div>
        </div>
        <div role="rowgroup" class="body">
          <div role="presentation" class="sizer" style={{ height: sight.whole }}>
            {rows.slice(seen.first, seen.last).map((row, i) => (
              <GridRow
                key={id(row)}
                row={row}
                id={`${prefix}-${seen.first + i}`}
                index={seen.first + i}
                columns={columns}
                branches={branches}
                isCurrent={hasCurrent && seen.first + i === at}
                cls={props.rowClass?.(row) ?? ""}
                template={template}
                top={(seen.first + i) * rowPx}
                onClick={() => move(seen.first + i)}
                onDblClick={() => props.onOpen?.(row)}
              />
            ))}
          </div>
          {rows.length === 0 && (
            <div role="row" class="empty">
              <div role="gridcell">{props.empty}</div>
            </div>
          )}
        </div>
      </div>
    </div>
  );
}
