// SPDX-License-Identifier: Apache-2.0
// The costliest lines of the program's own code, as the summary on the terminal has them.
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { column, share } from "../base/format";
import { go } from "../base/route";
import { cpuOf, type LineCosts, wholeLines } from "../data/lines";
import type { Profile } from "../data/profile";
import { type Column, Grid } from "../ui/grid";
import { Bar, Place, placeText, placeWidth } from "../ui/parts";

/** Of the run's CPU time; less that native threads worked is not worth a column. */
const WORKED_MIN = 0.05;

function ownLines(of: Profile): LineCosts[] {
  return wholeLines(of.data).filter((line) => of.data.source.files.library[line.file] === null);
}

/** What native threads worked for lines of own code; 0 where it is little. */
export function workedFor(of: Profile): number {
  const worked = ownLines(of).reduce((sum, line) => sum + (line.worked ?? 0), 0);
  return worked >= WORKED_MIN * (of.data.run.cpu_s ?? 0) ? worked : 0;
}

export function Costliest({ of }: { of: Profile }): JSX.Element {
  const hasWorked = workedFor(of) > 0;
  const lines = useMemo(() => {
    // A line that lets a pool compute costs what the pool does.
    const cost = (line: LineCosts) => cpuOf(line) + (hasWorked ? (line.worked ?? 0) : 0);
    return ownLines(of)
      .filter((line) => cost(line) + (line.wait ?? 0) > 0)
      .sort((a, b) => cost(b) - cost(a) || (b.wait ?? 0) - (a.wait ?? 0))
      .slice(0, 40);
  }, [of, hasWorked]);
  const texts = useMemo(() => textsOf(of, lines), [of, lines]);
  const path = (line: LineCosts) => of.text(of.data.source.files.path[line.file]);
  const most = lines.reduce((sum, line) => Math.max(sum, cpuOf(line) + (line.wait ?? 0)), 0);
  const runCpu = of.data.run.cpu_s ?? 0;
  const columns: Column<LineCosts>[] = [
    {
      key: "bar",
      title: "split",
      width: 84,
      rank: 4,
      cell: (row) => <Bar split={{ ...row, delay: 0 }} whole={most} />,
    },
    {
      key: "cpu",
      title: "CPU s",
      width: 62,
      rank: 0,
      number: true,
      cell: (row) => column(cpuOf(row)),
      sort: cpuOf,
    },
    {
      key: "share",
      title: "share",
      width: 62,
      rank: 2,
      number: true,
      cell: (row) => share(runCpu > 0 ? cpuOf(row) / runCpu : null),
    },
    ...(lines.some((line) => (line.wait ?? 0) >= 0.0005)
      ? [
          {
            key: "wait",
            title: "wait s",
            width: 62,
            rank: 3,
            number: true,
            cell: (row: LineCosts) => (row.wait ? column(row.wait) : ""),
            sort: (row: LineCosts) => row.wait,
          },
        ]
      : []),
    ...(hasWorked
      ? [
          {
            key: "worked",
            title: "worked s",
            about: "CPU time of native threads (OpenMP, BLAS, rayon) while the line waited for them",
            width: 70,
            rank: 3,
            number: true,
            cell: (row: LineCosts) => (row.worked ? column(row.worked) : ""),
            sort: (row: LineCosts) => row.worked,
          },
        ]
      : []),
    {
      key: "place",
      title: "line",
      width: placeWidth(lines.map((line) => placeText(path(line), line.line))),
      rank: 0,
      cell: (row) => <Place file={path(row)} line={row.line} quiet />,
    },
    {
      key: "text",
      title: "source",
      width: 70,
      grow: 1,
      rank: 1,
      cell: (row) => <span class="code">{texts.get(row)}</span>,
    },
  ];
  return (
    <Grid
      label="Costliest lines of your code"
      columns={columns}
      rows={lines}
      id={(row) => `${path(row)}:${row.line}`}
      onOpen={(row) => go("source", { file: path(row) ?? "", line: `${row.line}` })}
      empty="No line of your own code was sampled."
    />
  );
}

function textsOf(of: Profile, lines: LineCosts[]): Map<LineCosts, string> {
  const wanted = new Map(lines.map((line) => [`${line.file}:${line.line}`, line]));
  const found = new Map<LineCosts, string>();
  const { text } = of.data.source;
  for (let i = 0; i < text.file.length; i++) {
    const line = wanted.get(`${text.file[i]}:${text.line[i]}`);
    if (line) found.set(line, text.text[i].trim());
  }
  return found;
}
