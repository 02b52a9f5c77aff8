// SPDX-License-Identifier: Apache-2.0
// What the keys do in a table, and in a tree.
import type { Branches } from "./grid-row";

export interface Walk<Row> {
  rows: Row[];
  /** Index of the current row; 0 where none is. */
  at: number;
  hasCurrent: boolean;
  /** Rows that are seen at once. */
  page: number;
  branches?: Branches<Row>;
  move: (index: number) => void;
  open: (row: Row) => void;
  sortNext: () => void;
  turnOrder: () => void;
}

function fold<Row>({ rows, at, branches }: Walk<Row>, open: boolean): boolean {
  const row = rows[at];
  if (!branches || !row || branches.isOpen(row) !== !open) return false;
  branches.toggle(row);
  return true;
}

function toParent<Row>({ rows, at, branches, move }: Walk<Row>): void {
  if (!branches || !rows[at]) return;
  const level = branches.level(rows[at]);
  const above = rows.slice(0, at).findLastIndex((row) => branches.level(row) < level);
  if (above >= 0) move(above);
}

function unfoldOrEnter<Row>(walk: Walk<Row>): void {
  if (!fold(walk, true) && walk.branches?.isOpen(walk.rows[walk.at])) walk.move(walk.at + 1);
}

function actions<Row>(walk: Walk<Row>): Record<string, () => void> {
  const { rows, at, page, move } = walk;
  return {
    ArrowDown: () => move(walk.hasCurrent ? at + 1 : 0),
    ArrowUp: () => move(at - 1),
    PageDown: () => move(at + page),
    PageUp: () => move(at - page),
    Home: () => move(0),
    End: () => move(rows.length - 1),
    Enter: () => walk.open(rows[at]),
    ArrowRight: () => unfoldOrEnter(walk),
    ArrowLeft: () => fold(walk, false) || toParent(walk),
    " ": () => fold(walk, true) || fold(walk, false),
    s: walk.sortNext,
    S: walk.turnOrder,
  };
}

export function onKey<Row>(walk: Walk<Row>): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || walk.rows.length === 0) return;
    const act = actions(walk)[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
}
