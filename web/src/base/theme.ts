// SPDX-License-Identifier: Apache-2.0
// Light or dark: as the system has it, until somebody chooses; paper is light.
import { effect, signal } from "@preact/signals";

export type Theme = "light" | "dark";

const system = matchMedia("(prefers-color-scheme: dark)");
const paper = matchMedia("print");
const chosen = signal<Theme | null>(null);
export const theme = signal<Theme>("light");

/** A page from disk may have no storage: then the choice lasts as long as the page is open. */
function stored(value?: Theme): string | null {
  try {
    if (value) localStorage.setItem("pieprof-theme", value);
    return localStorage.getItem("pieprof-theme");
  } catch {
    return null;
  }
}

export function followTheme(): void {
  const before = stored();
  if (before === "light" || before === "dark") chosen.value = before;
  const update = (isPaper = paper.matches) => {
    theme.value = isPaper ? "light" : (chosen.value ?? (system.matches ? "dark" : "light"));
  };
  addEventListener("beforeprint", () => update(true));
  addEventListener("afterprint", () => update(false));
  paper.addEventListener("change", () => update());
  system.addEventListener("change", () => update());
  effect(() => update());
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
  });
}

export function changeTheme(): void {
  chosen.value = theme.value === "dark" ? "light" : "dark";
  stored(chosen.value);
}

/** The colour of a custom property of the style sheet, for canvases. */
export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}
