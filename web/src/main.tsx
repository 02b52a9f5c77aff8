// SPDX-License-Identifier: Apache-2.0
// The page of a profile: its data stands in the document as JSON.
import { render } from "preact";
import "./style/page.css";
import { follow } from "./base/route";
import { followTheme } from "./base/theme";
import type { PageData } from "./data";
import { open } from "./data/profile";
import { Shell } from "./ui/shell";

/** The version of the data that this page shows. */
const SCHEMA = 1;

function Failure({ why }: { why: string }) {
  return (
    <main class="failure">
      <h1>This page has no profile to show</h1>
      <p>{why}</p>
    </main>
  );
}

function start(root: HTMLElement): void {
  followTheme();
  let data: PageData;
  try {
    data = JSON.parse(document.getElementById("pieprof-data")?.textContent ?? "") as PageData;
  } catch {
    render(
      <Failure why="Its data is missing or incomplete: “pieprof report DB --html FILE” makes it again." />,
      root,
    );
    return;
  }
  if (data.schema !== SCHEMA) {
    render(<Failure why={`Its data has version ${data.schema}; this page shows version ${SCHEMA}.`} />, root);
    return;
  }
  open(data);
  follow();
  render(<Shell />, root);
}

start(document.getElementById("page")!);
