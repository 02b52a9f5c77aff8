// SPDX-License-Identifier: Apache-2.0
// The picture of a flame graph. A canvas, since ten thousand elements of SVG take half a second to draw. The table
// beside it says the same and is what the keyboard moves in.
import type { JSX } from "preact";
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { colour, theme } from "../base/theme";
import { scale } from "../ui/window";
import { type Box, boxAt, deepest, layout } from "./layout";
import type { Colour, Merged } from "./merge";

const FRAME_PX = 19;
const TEXT_MIN_PX = 28;
const DEPTH_MAX = 500;

function framePx(): number {
  return Math.round(FRAME_PX * scale());
}

interface Props {
  merged: Merged;
  focus: number;
  /** Nothing above this node is drawn. */
  top?: number;
  current: number | null;
  matches: ((label: string) => boolean) | null;
  /** The root is at the bottom. */
  upwards: boolean;
  say: (node: number) => string;
  onCurrent: (node: number) => void;
  onFocus: (node: number) => void;
}

interface Paint {
  fills: Record<Colour, string>;
  ink: string;
  faint: string;
  hit: string;
  hitInk: string;
  back: string;
  edge: string;
}

function paints(): Paint {
  return {
    fills: {
      own: colour("flame-own"),
      library: colour("flame-library"),
      native: colour("flame-native"),
      rest: colour("flame-rest"),
    },
    ink: colour("ink"),
    faint: colour("flame-faint"),
    hit: colour("flame-hit"),
    hitInk: colour("flame-hit-ink"),
    back: colour("page"),
    edge: colour("ink"),
  };
}

function shortened(ctx: CanvasRenderingContext2D, text: string, room: number, letter: number): string {
  if (text.length * letter <= room && ctx.measureText(text).width <= room) return text;
  let fits = Math.max(0, Math.min(text.length, Math.floor(room / letter)));
  while (fits > 1 && ctx.measureText(`${text.slice(0, fits)}…`).width > room) fits--;
  return fits > 1 ? `${text.slice(0, fits)}…` : "";
}

function draw(
  ctx: CanvasRenderingContext2D,
  boxes: Box[],
  width: number,
  height: number,
  props: Props,
): void {
  const { merged, upwards, matches, current } = props;
  const paint = paints();
  ctx.clearRect(0, 0, width, height);
  ctx.font = `${Math.round(12 * scale())}px system-ui, sans-serif`;
  ctx.textBaseline = "middle";
  const letter = ctx.measureText("n").width * 0.62;
  for (const box of boxes) {
    const x = box.left * width;
    const w = Math.max(0.5, box.width * width);
    const y = upwards ? height - (box.depth + 1) * framePx() : box.depth * framePx();
    const kind = merged.kind[box.node];
    const label = kind < 0 ? "all" : merged.kinds.labels[kind];
    const isHit = matches !== null && kind >= 0 && matches(label);
    ctx.fillStyle = isHit
      ? paint.hit
      : matches
        ? paint.faint
        : paint.fills[kind < 0 ? "rest" : merged.kinds.colours[kind]];
    ctx.fillRect(x, y, Math.max(0.5, w - (w > 3 ? 1 : 0)), framePx() - 1);
    if (w > TEXT_MIN_PX) {
      ctx.fillStyle = isHit ? paint.hitInk : paint.ink;
      ctx.fillText(shortened(ctx, label, w - 9, letter), x + 4, y + framePx() / 2);
    }
    if (box.node === current) {
      ctx.strokeStyle = paint.edge;
      ctx.lineWidth = 2;
      ctx.strokeRect(x + 1, y + 1, Math.max(1, w - 3), framePx() - 3);
    }
  }
}

export function FlameCanvas(props: Props): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const { merged, focus, upwards } = props;

  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(holder.current?.clientWidth ?? 0));
    observer.observe(holder.current!);
    return () => observer.disconnect();
  }, []);

  const boxes = useMemo(
    () =>
      layout(merged, focus, width > 0 ? 0.4 / width : 1, props.top).filter((box) => box.depth < DEPTH_MAX),
    [merged, focus, width, props.top],
  );
  const height = (deepest(boxes) + 1) * framePx();
  const painted = theme.value;

  useLayoutEffect(() => {
    const element = canvas.current!;
    const scale = devicePixelRatio || 1;
    element.width = Math.max(1, Math.round(width * scale));
    element.height = Math.max(1, Math.round(height * scale));
    const ctx = element.getContext("2d")!;
    ctx.scale(scale, scale);
    draw(ctx, boxes, width, height, props);
  }, [boxes, width, height, props.current, props.matches, upwards, painted]);

  useLayoutEffect(() => {
    const element = holder.current!;
    element.scrollTop = upwards ? element.scrollHeight : 0;
  }, [upwards, merged, focus, height]);

  const hit = (event: MouseEvent): Box | null => {
    const rect = canvas.current!.getBoundingClientRect();
    const y = event.clientY - rect.top;
    const depth = Math.floor((upwards ? height - y : y) / framePx());
    return boxAt(boxes, depth, (event.clientX - rect.left) / rect.width);
  };

  const onMove = (event: MouseEvent) => {
    const box = hit(event);
    const element = tip.current!;
    element.hidden = box === null;
    if (!box) return;
    element.textContent = props.say(box.node);
    const right = event.clientX > innerWidth / 2;
    element.style.left = right ? "auto" : `${event.clientX + 12}px`;
    element.style.right = right ? `${innerWidth - event.clientX + 12}px` : "auto";
    element.style.top = `${Math.min(event.clientY + 14, innerHeight - 80)}px`;
  };

  return (
    <div class="flame" ref={holder} aria-hidden="true">
      <canvas
        ref={canvas}
        style={{ width: "100%", height: `${height}px` }}
        onMouseMove={onMove}
        onMouseLeave={() => {
          tip.current!.hidden = true;
        }}
        onClick={(event) => {
          const box = hit(event);
          if (box) props.onCurrent(box.node);
        }}
        onDblClick={(event) => {
          const box = hit(event);
          if (box) props.onFocus(box.node);
        }}
      />
      <div class="tip" ref={tip} hidden />
    </div>
  );
}
