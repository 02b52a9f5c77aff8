// SPDX-License-Identifier: Apache-2.0
// One row of a table or tree.
import type { JSX } from "preact";
import type { Column } from "./grid-head";

export interface Branches<Row> {
  level: (row: Row) => number;
  /** null: nothing is below. */
  isOpen: (row: Row) => boolean | null;
  toggle: (row: Row) => void;
}

export interface RowProps<Row> {
  row: Row;
  id: string;
  index: number;
  columns: Column<Row>[];
  branches?: Branches<Row>;
  isCurrent: boolean;
  cls: string;
  template: string;
  top: number;
  onClick: () => void;
  onDblClick: () => void;
}

const LEVEL_PX = 12;
const LEVELS_INDENTED = 40;

function Branch<Row>({ row, column, branches }: { row: Row; column: Column<Row>; branches: Branches<Row> }) {
  const open = branches.isOpen(row);
  const indent = Math.min(branches.level(row), LEVELS_INDENTED) * LEVEL_PX;
  const twig = open === null ? "twig none" : open ? "twig open" : "twig";
  return (
    <span class="branch" style={{ paddingLeft: `${indent}px` }}>
      <span class={twig} aria-hidden="true" onClick={() => branches.toggle(row)} />
      {column.cell(row)}
    </span>
  );
}

export function GridRow<Row>(props: RowProps<Row>): JSX.Element {
  const { row, columns, branches, isCurrent } = props;
  return (
    <div
      id={props.id}
      role="row"
      aria-rowindex={props.index + 2}
      aria-selected={isCurrent}
      aria-level={branches ? branches.level(row) + 1 : undefined}
      aria-expanded={branches?.isOpen(row) ?? undefined}
      class={`row${isCurrent ? " current" : ""} ${props.cls}`}
      style={{ gridTemplateColumns: props.template, top: `${props.top}px` }}
      onClick={props.onClick}
      onDblClick={props.onDblClick}
    >
      {columns.map((column, c) => (
        <div role="gridcell" class={column.number ? "num" : "text"}>
          {branches && c === 0 ? <Branch row={row} column={column} branches={branches} /> : column.cell(row)}
        </div>
      ))}
    </div>
  );
}
