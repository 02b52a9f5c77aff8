// SPDX-License-Identifier: Apache-2.0
// Which rows of a long table are in sight, and which columns fit.

export interface Width {
  /** In CSS pixels; of a column that grows, the least. */
  width: number;
  grow?: number;
  /** The less, the longer it stays as the room gets smaller; 0: always. */
  rank: number;
}

const ROWS_AROUND = 6;

export function windowOf(top: number, height: number, row: number, count: number): { first: number; last: number } {
  const first = Math.max(0, Math.floor(top / row) - ROWS_AROUND);
  return { first, last: Math.min(count, Math.ceil((top + height) / row) + ROWS_AROUND) };
}

export function columnsThatFit<Column extends Width>(columns: Column[], width: number): Column[] {
  let left = width - columns.filter((column) => column.rank === 0).reduce((sum, column) => sum + column.width, 0);
  const kept = new Set(columns.filter((column) => column.rank === 0));
  for (const column of columns.filter((one) => one.rank > 0).sort((a, b) => a.rank - b.rank)) {
    if (column.width > left) break;
    left -= column.width;
    kept.add(column);
  }
  return columns.filter((column) => kept.has(column));
}
