// SPDX-License-Identifier: Apache-2.0
// Search over files, functions and lines of source: "/" opens it, Enter goes there.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { baseName } from "../base/format";
import { go } from "../base/route";
import { type Profile, profile } from "../data/profile";

export const searching = signal(false);

export interface Hit {
  kind: "file" | "function" | "line";
  text: string;
  about: string;
  open: () => void;
}

const HITS_MAX = 50;

export function hits(of: Profile, query: string): Hit[] {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const found: Hit[] = [];
  const { files, text } = of.data.source;
  const paths = files.path.map((path) => of.text(path) ?? "");
  for (const path of paths)
    if (path.toLowerCase().includes(wanted))
      found.push({
        kind: "file",
        text: baseName(path),
        about: path,
        open: () => go("source", { file: path }),
      });
  const names = new Set<string>();
  const { functions } = of.data.tree;
  for (let fn = 0; fn < functions.name.length && found.length < HITS_MAX; fn++) {
    const name = of.tree.name(fn);
    if (names.has(name) || !name.toLowerCase().includes(wanted)) continue;
    names.add(name);
    const about = of.tree.library(fn) ?? baseName(of.tree.file(fn) ?? of.tree.module(fn) ?? "");
    found.push({
      kind: "function",
      text: name,
      about,
      open: () => go("flame", { mode: "sandwich", fn: name }),
    });
  }
  for (let i = 0; i < text.file.length && found.length < HITS_MAX; i++) {
    if (!text.text[i].toLowerCase().includes(wanted)) continue;
    const path = paths[text.file[i]];
    const line = `${text.line[i]}`;
    found.push({
      kind: "line",
      text: text.text[i].trim(),
      about: `${baseName(path)}:${line}`,
      open: () => go("source", { file: path, line }),
    });
  }
  return found.slice(0, HITS_MAX);
}

export function Search(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const found = useMemo(() => (searching.value ? hits(profile(), query) : []), [query, searching.value]);
  const open = searching.value;

  // At once: what is typed next must go into the field.
  useLayoutEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) dialog.current.close();
  }, [open]);
  useEffect(() => dialog.current?.querySelector(`#hit-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);

  const choose = (hit: Hit | undefined) => {
    searching.value = false;
    hit?.open();
  };
  const onKey = (event: KeyboardEvent) => {
    const last = Math.max(0, found.length - 1);
    if (event.key === "ArrowDown") setAt(Math.min(last, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") choose(found[at]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="finder" aria-label="Search" onClose={() => (searching.value = false)}>
      <input
        type="text"
        role="combobox"
        aria-label="Search files, functions and lines"
        aria-expanded={found.length > 0}
        aria-controls="hits"
        aria-activedescendant={found.length > 0 ? `hit-${at}` : undefined}
        placeholder="Search files, functions and lines"
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <ul id="hits" role="listbox" aria-label="Found" hidden={found.length === 0}>
        {found.map((hit, i) => (
          <li id={`hit-${i}`} role="option" aria-selected={i === at} onClick={() => choose(hit)}>
            <span class="text">{hit.text}</span>
            <span class="dim">{`${hit.about} · ${hit.kind}`}</span>
          </li>
        ))}
      </ul>
      {query.trim() && found.length === 0 && (
        <p class="nothing">Nothing has “{query.trim()}” in its name or text.</p>
      )}
    </dialog>
  );
}
