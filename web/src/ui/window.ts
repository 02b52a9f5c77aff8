// SPDX-License-Identifier: Apache-2.0
// Which rows of a long table are in sight, and which columns fit.

export interface Width {
  /** In CSS pixels; of a column that grows, the least. */
  width: number;
  grow?: number;
  /** The less, the longer it stays as the room gets smaller; 0: always. */
  rank: number;
}

const LARGE_PX = 2400;
const LARGE_SCALE = 1.3;

/** Everything is larger on a very large screen, as in the style sheet. */
export function scale(): number {
  return innerWidth >= LARGE_PX ? LARGE_SCALE : 1;
}

const ROWS_AROUND = 6;
/** Between two columns, and at both ends of a row together. */
export const GAP_PX = 10;

export function windowOf(
  top: number,
  height: number,
  row: number,
  count: number,
): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / row) - ROWS_AROUND);
  return { first, last: Math.min(count, Math.ceil((top + height) / row) + ROWS_AROUND) };
}

export function columnsThatFit<Column extends Width>(columns: Column[], width: number): Column[] {
  const always = columns.filter((column) => column.rank === 0);
  let left = width - GAP_PX - always.reduce((sum, column) => sum + column.width + GAP_PX, 0);
  const kept = new Set(columns.filter((column) => column.rank === 0));
  for (const column of columns.filter((one) => one.rank > 0).sort((a, b) => a.rank - b.rank)) {
    if (column.width + GAP_PX > left) break;
    left -= column.width + GAP_PX;
    kept.add(column);
  }
  return columns.filter((column) => kept.has(column));
}
