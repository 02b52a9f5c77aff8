// SPDX-License-Identifier: Apache-2.0
// What is around every view: the way to the others, the run in a line, the part of it that is chosen, and the keys.
import type { ComponentType, JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { clock, plural, seconds } from "../base/format";
import { adjust, go, link, route } from "../base/route";
import { changeTheme, theme } from "../base/theme";
import type { Process, Thread } from "../data";
import { chooseOf, choosePeriod, isWhole, part } from "../data/filter";
import { profile, rows } from "../data/profile";
import { Flame } from "../views/flame";
import { How } from "../views/how";
import { Loops } from "../views/loops";
import { Memory } from "../views/memory";
import { Pairs } from "../views/pairs";
import { Processes } from "../views/processes";
import { Source } from "../views/source";
import { commandName, threadName } from "../views/names";
import { Start } from "../views/start";
import { Time } from "../views/time";
import { LiveState, pause } from "./live";
import { Search, searching } from "./search";

export interface View {
  id: string;
  title: string;
  component: ComponentType;
  /** What is chosen of the run changes what it shows. */
  isPart: boolean;
}

export const VIEWS: View[] = [
  { id: "start", title: "Start", component: Start, isPart: false },
  { id: "source", title: "Source", component: Source, isPart: true },
  { id: "flame", title: "Flame", component: Flame, isPart: true },
  { id: "pairs", title: "Pairs", component: Pairs, isPart: false },
  { id: "time", title: "Time", component: Time, isPart: true },
  { id: "memory", title: "Memory", component: Memory, isPart: false },
  { id: "processes", title: "Processes", component: Processes, isPart: false },
  { id: "loops", title: "Traced loops", component: Loops, isPart: false },
  { id: "how", title: "How measured", component: How, isPart: false },
];

const KEYS: [string, string][] = [
  ["1 – 9", "the views, from Start to How measured"],
  ["/", "search files, functions and lines"],
  ["↑ ↓ PgUp PgDn Home End", "move in a table"],
  ["← →", "fold and unfold; to the caller"],
  ["Enter", "open the line, zoom, or choose it"],
  ["s  S", "sort a table by its next column; the other way round"],
  ["Esc", "close this; else show the whole run again"],
  ["t", "light or dark"],
  ["p", "hold the figures of a running program still, and go on"],
  ["?", "this help"],
];

function Help({ dialog }: { dialog: { current: HTMLDialogElement | null } }): JSX.Element {
  return (
    <dialog
      ref={(element) => {
        dialog.current = element;
      }}
      aria-labelledby="help-title"
      class="help"
    >
      <h2 id="help-title">Keys</h2>
      <dl>
        {KEYS.map(([key, about]) => (
          <div>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <h2>Words</h2>
      <dl>
        <div>
          <dt>Python, native, system</dt>
          <dd>CPU time in the interpreter, in compiled code that a line called, in the kernel</dd>
        </div>
        <div>
          <dt>waiting</dt>
          <dd>off the CPU: it slept, read, or waited for a lock or for the GIL</dd>
        </div>
        <div>
          <dt>ready to run</dt>
          <dd>not waiting, but other work had the processor, or a quota stopped it</dd>
        </div>
        <div>
          <dt>wasted</dt>
          <dd>CPU time that a fix may save</dd>
        </div>
        <div>
          <dt>at peak</dt>
          <dd>live when the process had most memory; 1 MB is 1 000 000 bytes</dd>
        </div>
      </dl>
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

function PartChip(): JSX.Element | null {
  if (isWhole.value) return null;
  const { data } = profile();
  const { period, process, thread } = part.value;
  const of = rows<Process>(data.processes).find((one) => one.process === process);
  const threadOf = rows<Thread>(data.threads).find((one) => one.process === process && one.thread === thread);
  const words = [
    period && `${clock(period.from_s)} to ${clock(period.to_s)}`,
    of && commandName(of),
    threadOf && threadName(threadOf),
  ].filter(Boolean);
  const view = VIEWS.find((one) => one.id === route.value.view);
  return (
    <p class="chip" role="status">
      <span>
        <b>Only</b> {words.join(", ") || "a part of the run"}
        {view && !view.isPart && <span class="dim"> (this view is about the whole run)</span>}
      </span>
      <button type="button" onClick={() => adjust({ t: "", of: "" })}>
        Whole run
      </button>
    </p>
  );
}

function Header({ onHelp }: { onHelp: () => void }): JSX.Element {
  const { run, processes } = profile().data;
  const first = rows<Process>(processes)[0];
  const name = first ? commandName(first) : (run.command ?? "(command line not kept)");
  const facts = [
    run.wall_s === null ? null : `${seconds(run.wall_s)} in all`,
    run.cpu_s === null ? "CPU time not measured" : `${seconds(run.cpu_s)} CPU`,
    plural(run.processes, "process", "processes"),
    plural(run.threads, "thread"),
    run.cause && run.exit_status ? `ended: ${run.cause} ${run.exit_status}` : null,
  ].filter(Boolean);
  return (
    <header>
      <p class="title">
        <b title={run.command ?? ""}>{name}</b>
        <span class="dim">{facts.join(" · ")}</span>
      </p>
      <LiveState />
      <div class="actions">
        <button type="button" onClick={() => (searching.value = true)} title="Search (/)">
          Search <kbd>/</kbd>
        </button>
        <button
          type="button"
          onClick={changeTheme}
          title="Light or dark (t)"
          aria-label={theme.value === "dark" ? "Light theme" : "Dark theme"}
        >
          <span aria-hidden="true">{theme.value === "dark" ? "☀" : "☾"}</span>
        </button>
        <button type="button" onClick={onHelp} title="Help (?)" aria-label="Help">
          <span aria-hidden="true">?</span>
        </button>
      </div>
    </header>
  );
}

function Nav({ view }: { view: View }): JSX.Element {
  const current = useRef<HTMLAnchorElement>(null);
  useEffect(() => current.current?.scrollIntoView({ block: "nearest", inline: "center" }), [view]);
  return (
    <nav aria-label="Views">
      <p class="brand">pieprof</p>
      <ul>
        {VIEWS.map((one, i) => (
          <li>
            <a
              href={link(one.id)}
              aria-current={one === view ? "page" : undefined}
              ref={one === view ? current : undefined}
            >
              <kbd aria-hidden="true">{i + 1}</kbd>
              {one.title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return Boolean(element?.closest("input:not([type=radio]):not([type=checkbox]), select, textarea"));
}

export function Shell(): JSX.Element {
  const dialog = useRef<HTMLDialogElement | null>(null);
  const view = VIEWS.find((one) => one.id === route.value.view) ?? VIEWS[0];

  useEffect(() => {
    const toggle = () => (dialog.current?.open ? dialog.current.close() : dialog.current?.showModal());
    const keys: Record<string, () => void> = {
      "?": toggle,
      "/": () => (searching.value = true),
      t: changeTheme,
      p: pause,
      Escape: () => {
        choosePeriod(null);
        chooseOf(null);
      },
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey || isTyping(event.target) || searching.value) return;
      if (dialog.current?.open && event.key !== "?") return;
      const number = VIEWS[Number(event.key) - 1];
      const act = number ? () => go(number.id) : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  useEffect(() => {
    document.title = `${view.title} – ${profile().data.run.command ?? "pieprof"}`;
  }, [view]);

  const Body = view.component;
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          document.getElementById("main")?.focus();
        }}
      >
        To the view
      </a>
      <Nav view={view} />
      <div class="page">
        <Header onHelp={() => dialog.current?.showModal()} />
        <PartChip />
        <main id="main" tabIndex={-1}>
          <h1 class="unseen">{view.title}</h1>
          <Body key={view.id} />
        </main>
      </div>
      <Search />
      <Help dialog={dialog} />
    </>
  );
}
