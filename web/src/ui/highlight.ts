// SPDX-License-Identifier: Apache-2.0
// Colours of Python, as spans of text for each line and never as HTML: highlight.js hands its tokens to an emitter.
import hljs from "highlight.js/lib/core";
import python from "highlight.js/lib/languages/python";

export interface Span {
  text: string;
  cls: string;
}

/** Longer texts are shown without colours: they would hold up the page. */
const TEXT_MAX = 400_000;

class Lines {
  readonly lines: Span[][] = [[]];
  private readonly scopes: string[] = [];

  addText(text: string): void {
    const parts = text.split("\n");
    parts.forEach((part, i) => {
      if (i > 0) this.lines.push([]);
      if (part)
        this.lines[this.lines.length - 1].push({ text: part, cls: (this.scopes.at(-1) ?? "").split(".")[0] });
    });
  }
  openNode(scope: string): void {
    this.scopes.push(scope);
  }
  closeNode(): void {
    this.scopes.pop();
  }
  startScope(scope: string): void {
    this.openNode(scope);
  }
  endScope(): void {
    this.closeNode();
  }
  __addSublanguage(): void {}
  finalize(): void {}
  toHTML(): string {
    return "";
  }
}

let ready = false;

function tokens(lines: readonly string[]): Span[][] {
  if (!ready) hljs.registerLanguage("python", python);
  ready = true;
  hljs.configure({ __emitter: Lines } as never);
  const { _emitter } = hljs.highlight(lines.join("\n"), { language: "python", ignoreIllegals: true });
  return (_emitter as unknown as Lines).lines;
}

const CODE =
  /^\s*(?:@\w|(?:def|class|if|for|while|with|elif|except)\b.*:\s*(?:#.*)?$|(?:import|from|return)\s|\w[\w.[\]]*\s*[-+*/]?=\s)/;

/** Lines that look like code, but would be text of a string. */
function swallowed(lines: Span[][]): number {
  const isSwallowed = (spans: Span[]) =>
    spans.length === 1 && spans[0].cls === "string" && CODE.test(spans[0].text);
  return lines.filter(isSwallowed).length;
}

/** A part of a file may begin within a string that is not in the profile: the better of both readings. */
function piece(lines: readonly string[]): Span[][] {
  const plain = tokens(lines);
  if (lines.join("\n").split('"""').length % 2 === 1) return plain;
  const within = tokens(['"""', ...lines]).slice(1);
  return swallowed(within) < swallowed(plain) ? within : plain;
}

/** The numbers say where lines of the file are missing. */
export function highlight(numbers: readonly number[], lines: readonly string[]): Span[][] {
  const result: Span[][] = lines.map((text) => [{ text, cls: "" }]);
  if (lines.reduce((sum, line) => sum + line.length, 0) > TEXT_MAX) return result;
  for (let from = 0, to = 1; from < lines.length; from = to, to++) {
    while (to < lines.length && numbers[to] === numbers[to - 1] + 1) to++;
    const spans = piece(lines.slice(from, to));
    if (spans.length === to - from) result.splice(from, to - from, ...spans);
  }
  return result;
}
