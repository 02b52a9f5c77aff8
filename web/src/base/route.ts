// SPDX-License-Identifier: Apache-2.0
// What is shown is in the address, "#/flame?by=peak": each view and each selection can be linked to and gone back to.
import { signal } from "@preact/signals";

export interface Route {
  view: string;
  params: Record<string, string>;
}

/** Parameters that go along from view to view: the chosen period, process and thread. */
const LASTING = ["t", "of"];

export function parse(hash: string): Route {
  const [path, query = ""] = hash.replace(/^#?\/?/, "").split("?", 2);
  return { view: path || "start", params: Object.fromEntries(new URLSearchParams(query)) };
}

export function write(route: Route): string {
  const kept = Object.entries(route.params).filter(([, value]) => value !== "");
  const query = new URLSearchParams(kept).toString().replaceAll("%2F", "/").replaceAll("%3A", ":");
  return `#/${route.view}${query ? `?${query}` : ""}`;
}

export const route = signal<Route>({ view: "start", params: {} });

/** The event of a changed address comes late: who reads the route right after a change gets the new one. */
function take(hash: string): void {
  const next = parse(hash);
  if (write(next) !== write(route.value)) route.value = next;
}

export function follow(): void {
  addEventListener("hashchange", () => take(location.hash));
  route.value = parse(location.hash);
}

export function link(view: string, params: Record<string, string> = {}): string {
  const lasting = LASTING.filter((name) => route.value.params[name]).map((name) => [
    name,
    route.value.params[name],
  ]);
  return write({ view, params: { ...Object.fromEntries(lasting), ...params } });
}

export function go(view: string, params: Record<string, string> = {}): void {
  const next = link(view, params);
  location.hash = next;
  take(next);
}

/** Changes parameters of this view; an empty value removes one. No step back leads to what was before. */
export function adjust(params: Record<string, string>): void {
  const next = write({ view: route.value.view, params: { ...route.value.params, ...params } });
  if (next === write(route.value)) return;
  location.replace(next);
  take(next);
}

export function param(name: string): string {
  return route.value.params[name] ?? "";
}
