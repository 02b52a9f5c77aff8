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

type Fits = (text: string) => boolean;

function fileHits(of: Profile, fits: Fits): Hit[] {
  const paths = of.data.source.files.path.map((path) => of.text(path) ?? "");
  const hit = (path: string): Hit => ({
    kind: "file",
    text: baseName(path),
    about: path,
    open: () => go("source", { file: path }),
  });
  return paths.filter(fits).map(hit);
}

function functionHits(of: Profile, fits: Fits, own: boolean): Hit[] {
  const { tree } = of;
  const names = new Map<string, number>();
  for (let fn = 0; fn < of.data.tree.functions.name.length && names.size < HITS_MAX; fn++)
    if (tree.isOwn(fn) === own && fits(tree.name(fn))) names.set(tree.name(fn), fn);
  return [...names].map(([name, fn]) => ({
    kind: "function",
    text: name,
    about: tree.library(fn) ?? baseName(tree.file(fn) ?? tree.module(fn) ?? ""),
    open: () => go("flame", { mode: "sandwich", fn: name }),
  }));
}

function lineHits(of: Profile, fits: Fits): Hit[] {
  const { files, text } = of.data.source;
  const found: Hit[] = [];
  for (let i = 0; i < text.file.length && found.length < HITS_MAX; i++) {
    if (!fits(text.text[i])) continue;
    const file = of.text(files.path[text.file[i]]) ?? "";
    const line = `${text.line[i]}`;
    const about = `${baseName(file)}:${line}`;
    found.push({ kind: "line", text: text.text[i].trim(), about, open: () => go("source", { file, line }) });
  }
  return found;
}

/** Files, own functions, lines, and then functions of libraries and native code. */
export function hits(of: Profile, query: string): Hit[] {
  const wanted = query.trim().toLowerCase();
  if (!wanted) return [];
  const fits: Fits = (text) => text.toLowerCase().includes(wanted);
  const found = [
    fileHits(of, fits),
    functionHits(of, fits, true),
    lineHits(of, fits),
    functionHits(of, fits, false),
  ];
  return found.flat().slice(0, HITS_MAX);
}

/** Where nothing had the focus before, the hidden field would keep it, and what is typed, until the next frame. */
function close(dialog: HTMLDialogElement): void {
  dialog.close();
  const { activeElement } = document;
  if (activeElement instanceof HTMLElement && dialog.contains(activeElement)) activeElement.blur();
}

export function Search(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const of = profile();
  const found = useMemo(() => (searching.value ? hits(of, query) : []), [of, query, searching.value]);
  const open = searching.value;

  // At once: what is typed next must go into the field.
  useLayoutEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal();
    if (!open && dialog.current?.open) close(dialog.current);
  }, [open]);
  useEffect(() => dialog.current?.querySelector(`#hit-${at}`)?.scrollIntoView({ block: "nearest" }), [at]);

  const choose = (hit: Hit | undefined) => {
    searching.value = false;
    hit?.open();
  };
  // Of an earlier close(): the browser tells it later, and by then the dialog may be open again.
  const onClose = () => {
    if (!dialog.current?.open) searching.value = false;
  };
  const onKey = (event: KeyboardEvent) => {
    const last = Math.max(0, found.length - 1);
    if (event.key === "ArrowDown") setAt(Math.min(last, at + 1));
    else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
    else if (event.key === "Enter") choose(found[at]);
    else if (event.key === "Escape") searching.value = false; // at once: what is typed next is for the page
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="finder" aria-label="Search" onClose={onClose}>
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
