// SPDX-License-Identifier: Apache-2.0
// A table, or a tree as a table, of any length: only the rows that are seen are in the page. One tab stop; arrows move,
// Enter opens, left and right fold and unfold.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { columnsThatFit, scale, type Width, windowOf } from "./window";

export interface Column<Row> extends Width {
  key: string;
  title: string;
  about?: string;
  number?: boolean;
  cell: (row: Row) => ComponentChildren;
  sort?: (row: Row) => number | string | null;
}

export interface Branches<Row> {
  level: (row: Row) => number;
  /** null: nothing is below. */
  isOpen: (row: Row) => boolean | null;
  toggle: (row: Row) => void;
}

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
const PRINTED_ROWS = 300;

interface Size {
  width: number;
  height: number;
}

/** Of an element, followed as it changes. */
function useSize(element: { current: HTMLElement | null }): Size {
  const [size, setSize] = useState<Size>({ width: 800, height: 400 });
  useLayoutEffect(() => {
    const read = () => {
      const { clientWidth: width, clientHeight: height } = element.current!;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    const observer = new ResizeObserver(read);
    observer.observe(element.current!);
    read();
    return () => observer.disconnect();
  }, []);
  return size;
}

function usePrinting(): boolean {
  const [printing, setPrinting] = useState(false);
  useEffect(() => {
    const media = matchMedia("print");
    const update = () => setPrinting(media.matches);
    media.addEventListener("change", update);
    return () => media.removeEventListener("change", update);
  }, []);
  return printing;
}

interface Order {
  key: string;
  down: boolean;
}

function ordered<Row>(rows: Row[], columns: Column<Row>[], order: Order | null): Row[] {
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

let ids = 0;

export function Grid<Row>(props: Props<Row>): JSX.Element {
  const { rows: given, id, branches } = props;
  const rowPx = Math.round((props.rowHeight ?? ROW_PX) * scale());
  const [prefix] = useState(() => `g${++ids}`);
  const body = useRef<HTMLDivElement>(null);
  const { width, height: viewHeight } = useSize(body);
  const [top, setTop] = useState(0);
  const [order, setOrder] = useState<Order | null>(null);
  const [own, setOwn] = useState<string | null>(null);
  const printing = usePrinting();

  const columns = useMemo(() => columnsThatFit(props.columns, width / scale()), [props.columns, width]);
  const rows = useMemo(() => ordered(given, props.columns, order), [given, props.columns, order]);
  const current = props.current === undefined ? own : props.current;
  const at = Math.max(
    0,
    rows.findIndex((row) => id(row) === current),
  );
  const shownHeight = props.height ? Math.min(props.height, Math.max(rows.length, 1)) * rowPx : viewHeight;
  const seen = printing
    ? { first: 0, last: Math.min(rows.length, PRINTED_ROWS) }
    : windowOf(top, shownHeight, rowPx, rows.length);

  useLayoutEffect(() => {
    const start = props.start ?? 0;
    if (body.current && start > 0) body.current.scrollTop = Math.max(0, start * rowPx - shownHeight / 3);
  }, [props.start]);

  const reveal = (index: number) => {
    const element = body.current;
    if (!element) return;
    if (index * rowPx < element.scrollTop) element.scrollTop = index * rowPx;
    const below = (index + 1) * rowPx - element.clientHeight;
    if (below > element.scrollTop) element.scrollTop = below;
  };

  // What is chosen elsewhere, in a picture say, comes into sight.
  useEffect(() => {
    if (props.current) reveal(at);
  }, [props.current, rows]);

  const move = (index: number) => {
    const to = Math.max(0, Math.min(rows.length - 1, index));
    if (rows.length === 0) return;
    setOwn(id(rows[to]));
    props.onCurrent?.(rows[to]);
    reveal(to);
  };

  const fold = (open: boolean): boolean => {
    const row = rows[at];
    if (!branches || !row || branches.isOpen(row) !== !open) return false;
    branches.toggle(row);
    return true;
  };

  const toParent = () => {
    if (!branches || !rows[at]) return;
    const level = branches.level(rows[at]);
    for (let i = at - 1; i >= 0; i--)
      if (branches.level(rows[i]) < level) {
        move(i);
        return;
      }
  };

  const sortNext = () => {
    const sortable = branches ? [] : columns.filter((column) => column.sort);
    const next = sortable[sortable.findIndex((column) => column.key === order?.key) + 1];
    setOrder(next ? { key: next.key, down: Boolean(next.number) } : null);
  };

  const page = Math.max(1, Math.floor(shownHeight / rowPx) - 1);
  const keys: Record<string, () => void> = {
    ArrowDown: () => move(current === null ? 0 : at + 1),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + page),
    PageUp: () => move(at - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => rows[at] && (props.onOpen ?? props.onCurrent)?.(rows[at]),
    ArrowRight: () => fold(true) || (branches?.isOpen(rows[at]) && move(at + 1)),
    ArrowLeft: () => fold(false) || toParent(),
    " ": () => fold(true) || fold(false),
    s: () => sortNext(),
    S: () => order && setOrder({ ...order, down: !order.down }),
  };

  const onKey = (event: KeyboardEvent) => {
    const act = event.ctrlKey || event.altKey || event.metaKey ? undefined : keys[event.key];
    if (!act || rows.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };

  const template = columns
    .map((column) =>
      column.grow ? `minmax(0, ${column.grow}fr)` : `${Math.round(column.width * scale())}px`,
    )
    .join(" ");
  const active = rows.length > 0 && at >= seen.first && at < seen.last ? `${prefix}-${at}` : undefined;

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
        onKeyDown={onKey}
      >
        <div role="rowgroup" class="head">
          <div role="row" aria-rowindex={1} class="row" style={{ gridTemplateColumns: template }}>
            {columns.map((column) => (
              <Head column={column} order={order} setOrder={branches ? null : setOrder} />
            ))}
          </div>
        </div>
        <div
          role="rowgroup"
          class="body"
          ref={body}
          style={printing || !props.height ? {} : { height: `${shownHeight}px` }}
          onScroll={(event) => setTop(event.currentTarget.scrollTop)}
        >
          <div
            role="presentation"
            class="sizer"
            style={{ height: `${(printing ? seen.last : rows.length) * rowPx}px` }}
          >
            {rows.slice(seen.first, seen.last).map((row, i) => {
              const index = seen.first + i;
              const isCurrent = current !== null && index === at;
              const open = branches?.isOpen(row);
              return (
                <div
                  key={id(row)}
                  id={`${prefix}-${index}`}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-selected={isCurrent}
                  aria-level={branches ? branches.level(row) + 1 : undefined}
                  aria-expanded={open ?? undefined}
                  class={`row${isCurrent ? " current" : ""} ${props.rowClass?.(row) ?? ""}`}
                  style={{ gridTemplateColumns: template, top: `${index * rowPx}px` }}
                  onClick={() => move(index)}
                  onDblClick={() => props.onOpen?.(row)}
                >
                  {columns.map((column, c) => (
                    <div role="gridcell" class={column.number ? "num" : "text"}>
                      {branches && c === 0 ? (
                        <span
                          class="branch"
                          style={{ paddingLeft: `${Math.min(branches.level(row), 40) * 12}px` }}
                        >
                          <span
                            class={open === null ? "twig none" : open ? "twig open" : "twig"}
                            aria-hidden="true"
                            onClick={() => branches.toggle(row)}
                          />
                          {column.cell(row)}
                        </span>
                      ) : (
                        column.cell(row)
                      )}
                    </div>
                  ))}
                </div>
              );
            })}
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

function Head<Row>({
  column,
  order,
  setOrder,
}: {
  column: Column<Row>;
  order: Order | null;
  setOrder: ((order: Order) => void) | null;
}) {
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
