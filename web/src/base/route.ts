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

export function follow(): void {
  const read = () => {
    route.value = parse(location.hash);
  };
  addEventListener("hashchange", read);
  read();
}

export function link(view: string, params: Record<string, string> = {}): string {
  const lasting = LASTING.filter((name) => route.value.params[name]).map((name) => [
    name,
    route.value.params[name],
  ]);
  return write({ view, params: { ...Object.fromEntries(lasting), ...params } });
}

export function go(view: string, params: Record<string, string> = {}): void {
  location.hash = link(view, params);
}

/** Changes parameters of this view; an empty value removes one. No step back leads to what was before. */
export function adjust(params: Record<string, string>): void {
  const next = write({ view: route.value.view, params: { ...route.value.params, ...params } });
  if (next !== location.hash) location.replace(next);
}

export function param(name: string): string {
  return route.value.params[name] ?? "";
}
