// SPDX-License-Identifier: Apache-2.0
// The page of a profile: its data stands in the document as JSON, or is asked for where `pieprof serve` gives it.
import { render } from "preact";
import "./style/page.css";
import { follow } from "./base/route";
import { followTheme } from "./base/theme";
import type { PageData } from "./data";
import { follow as followData, type Served } from "./data/live";
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

/** The address has the token once; then a cookie has it, and nobody sees it in a picture of the page. */
function hideToken(): void {
  history.replaceState(null, "", location.pathname + location.hash);
}

async function startServed(root: HTMLElement): Promise<void> {
  hideToken();
  render(<main class="failure">The profile is being read …</main>, root);
  try {
    await followData();
  } catch (error) {
    render(<Failure why={(error as Error).message} />, root);
    return;
  }
  follow();
  render(<Shell />, root);
}

function start(root: HTMLElement): void {
  followTheme();
  let data: PageData | Served;
  try {
    data = JSON.parse(document.getElementById("pieprof-data")?.textContent ?? "") as PageData | Served;
  } catch {
    render(
      <Failure why="Its data is missing or incomplete: “pieprof report DB --html FILE” makes it again." />,
      root,
    );
    return;
  }
  if ("served" in data) {
    void startServed(root);
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
