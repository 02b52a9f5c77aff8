// SPDX-License-Identifier: Apache-2.0
// Numbers and texts as the terminal output has them (launcher/text/text.c).

/** Thin and unbreakable, between the groups of digits of a number, and before its unit. */
const GAP = "\u00a0";
/** Stands for a measurement that is missing. */
export const NONE = "–";

function scaled(value: number, step: number, units: readonly string[], plainUnits: number): string {
  let size = Math.abs(value);
  let unit = 0;
  for (; size >= 999.5 && unit + 1 < units.length; unit++) size /= step;
  const digits = unit < plainUnits || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
  return `${value < 0 ? "-" : ""}${size.toFixed(digits)}${GAP}${units[unit]}`;
}

/** 1 MB is 1 000 000 bytes. */
export function bytes(value: number | null): string {
  return value === null ? NONE : scaled(value, 1000, ["B", "kB", "MB", "GB", "TB", "PB", "EB"], 1);
}

/** With the unit that fits: 168 ns, 7.57 us, 527 ms, 11.1 s. */
export function duration(value: number | null): string {
  return value === null ? NONE : scaled(value * 1e9, 1000, ["ns", "us", "ms", "s"], 1);
}

/** In prose, as in the summary: 11.14 s. */
export function seconds(value: number | null): string {
  return value === null ? NONE : `${value.toFixed(2)}${GAP}s`;
}

/** In a column whose head has the unit: 11.139. */
export function column(value: number | null): string {
  return value === null ? NONE : value.toFixed(3);
}

export function share(value: number | null, digits = 1): string {
  return value === null || !Number.isFinite(value) ? NONE : `${(100 * value).toFixed(digits)}${GAP}%`;
}

/** 10 000 */
export function count(value: number | null): string {
  if (value === null) return NONE;
  const digits = Math.round(Math.abs(value)).toString();
  return (value < 0 ? "-" : "") + digits.replace(/\B(?=(\d{3})+$)/g, GAP);
}

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** A point in time of the run: 4.25 s, 3:07 min, 2:05:10 h. */
export function clock(value: number): string {
  if (value < 100) return `${value.toFixed(value < 10 ? 2 : 1)}${GAP}s`;
  const whole = Math.round(value);
  const two = (n: number) => n.toString().padStart(2, "0");
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}:${two(whole % 60)}${GAP}min`;
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}${GAP}h`;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a name must not bring into the page
const STEERING = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** A name without controls, and without marks that turn the direction of text around. */
export function printable(text: string): string {
  return text.replace(STEERING, (c) => (c === "\t" ? " " : c === "\n" ? "↵" : "\ufffd"));
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1) || path;
}

/** "/a/b/" of "/a/b/c" and of "/a/b/c/"; "" of "/" and of what has no folder. */
function above(path: string): string {
  return path.slice(0, path.slice(0, -1).lastIndexOf("/") + 1);
}

/** The longest folder that all paths share, with its slash: what a page need not say again in each row. */
export function commonFolder(paths: readonly string[]): string {
  let folder = above(paths[0] ?? "");
  for (const path of paths) while (folder && !path.startsWith(folder)) folder = above(folder);
  return folder === "/" ? "" : folder;
}
