# SPDX-License-Identifier: Apache-2.0
"""What a command prints on a terminal, as an SVG: its text stays text, so a picture takes a few kilobytes."""

import html
import os
import pty
import re
import subprocess

COLUMNS = 100
CELL_PX, LINE_PX, MARGIN_PX, FONT_PX = 8.4, 19, 16, 14
STYLE = f"""text {{ font: {FONT_PX}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre }}
.b {{ font-weight: bold; fill: #ffffff }} .d {{ fill: #8b97a8 }} .h {{ font-weight: bold; fill: #ff7b72 }} .w {{ fill: #e3b341 }}"""
CLASSES = {"1": "b", "2": "d", "1;31": "h", "33": "w"}  # as launcher/text/style.c has them
SEQUENCE = re.compile("\x1b\\[([0-9;]*)m")


def on_a_terminal(command):
    """Its output, as a terminal of COLUMNS columns gets it."""
    ours, its = pty.openpty()
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color", "PAGER": ""}
    environment.pop("NO_COLOR", None)
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=its, stderr=its, env=environment) as running:
        os.close(its)
        parts = []
        try:
            while part := os.read(ours, 65536):
                parts.append(part)
        except OSError:  # the end of a terminal
            pass
        finally:
            os.close(ours)
    if running.returncode:
        raise SystemExit(f"{command[0]} ended with {running.returncode}")
    return b"".join(parts).decode("utf-8").replace("\r\n", "\n").strip("\n").split("\n")


def spans(line):
    """[(class or "", text)]"""
    found, kind, at = [], "", 0
    for match in [*SEQUENCE.finditer(line), None]:
        text = line[at:match.start() if match else len(line)]
        if text:
            found.append((kind, text))
        if match:
            kind, at = CLASSES.get(match[1], ""), match.end()
    return found


def row(number, line):
    """Each piece has its place and its width, so columns stay below each other whatever font there is."""
    y, column, pieces = MARGIN_PX + FONT_PX + number * LINE_PX, 0, []
    for kind, text in spans(line):
        shown = text.strip(" ")
        x = MARGIN_PX + (column + len(text) - len(text.lstrip(" "))) * CELL_PX
        column += len(text)
        if shown:
            style = f' class="{kind}"' if kind else ""
            pieces.append(f'<text x="{x:.1f}" y="{y}" textLength="{len(shown) * CELL_PX:.1f}"'
                          f' lengthAdjust="spacingAndGlyphs"{style}>{html.escape(shown, quote=False)}</text>')
    return "".join(pieces)


def picture(title, lines):
    width, height = 2 * MARGIN_PX + COLUMNS * CELL_PX, 2 * MARGIN_PX + len(lines) * LINE_PX
    rows = "\n".join(row(i, line) for i, line in enumerate(lines))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" viewBox="0 0 {width:.0f} {height}"'
            f' role="img" aria-label="{html.escape(title)}">\n<title>{html.escape(title)}</title>\n<style>{STYLE}</style>\n'
            f'<rect width="100%" height="100%" rx="8" fill="#161b22"/>\n{rows}\n</svg>\n')
