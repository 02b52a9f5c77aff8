// SPDX-License-Identifier: Apache-2.0
// One track of time: a stacked bar for each slice. Dragging over it chooses a period.
import type { JSX } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { colour, theme } from "../base/theme";
import { choosePeriod, type Period } from "../data/filter";
import type { Tracks } from "../data/tracks";

interface Props {
  /** Seconds by slice of each kind, whose colour has its name; from the bottom up. */
  track: Record<string, Float64Array>;
  kinds: readonly string[];
  of: Tracks;
  /** Seconds in a slice that take the whole height. */
  high: number;
  height: number;
  period: Period | null;
}

const DRAG_MIN_PX = 3;

function paint(ctx: CanvasRenderingContext2D, width: number, props: Props, period: Period | null): void {
  const { track, kinds, of, high, height } = props;
  const step = width / of.slices;
  ctx.clearRect(0, 0, width, height);
  const fills = kinds.map((kind) => colour(kind));
  for (let i = 0; i < of.slices; i++) {
    let y = height;
    kinds.forEach((kind, k) => {
      const part = high > 0 ? (track[kind][i] / high) * height : 0;
      if (part <= 0) return;
      ctx.fillStyle = fills[k];
      ctx.fillRect(i * step, y - part, Math.max(0.6, step - (step > 4 ? 1 : 0)), part);
      y -= part;
    });
  }
  if (!period) return;
  const x = (t: number) => ((t - of.start_s) / (of.slices * of.width_s)) * width;
  ctx.fillStyle = colour("veil");
  ctx.fillRect(0, 0, Math.max(0, x(period.from_s)), height);
  ctx.fillRect(Math.min(width, x(period.to_s)), 0, width, height);
}

export function TrackCanvas(props: Props): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [drag, setDrag] = useState<Period | null>(null);
  const from = useRef<{ x: number; t: number } | null>(null);
  const painted = theme.value;
  const period = drag ?? props.period;

  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setWidth(canvas.current?.clientWidth ?? 0));
    observer.observe(canvas.current!);
    return () => observer.disconnect();
  }, []);

  useLayoutEffect(() => {
    const element = canvas.current!;
    const scale = devicePixelRatio || 1;
    element.width = Math.max(1, Math.round(width * scale));
    element.height = Math.round(props.height * scale);
    const ctx = element.getContext("2d")!;
    ctx.scale(scale, scale);
    paint(ctx, width, props, period);
  }, [props.track, props.high, props.height, width, period?.from_s, period?.to_s, painted]);

  const timeAt = (event: PointerEvent) => {
    const rect = canvas.current!.getBoundingClientRect();
    const part = Math.max(0, Math.min(1, (event.clientX - rect.left) / rect.width));
    return props.of.start_s + part * props.of.slices * props.of.width_s;
  };
  const between = (a: number, b: number): Period => {
    const { start_s, width_s } = props.of;
    const slice = (t: number) => (t - start_s) / width_s;
    const first = Math.floor(slice(Math.min(a, b)));
    const last = Math.max(first + 1, Math.ceil(slice(Math.max(a, b))));
    return { from_s: start_s + first * width_s, to_s: start_s + last * width_s };
  };
  const ended = (event: PointerEvent) => {
    if (from.current && Math.abs(event.clientX - from.current.x) >= DRAG_MIN_PX)
      choosePeriod(between(from.current.t, timeAt(event)));
    from.current = null;
    setDrag(null);
  };
  return (
    <canvas
      ref={canvas}
      class="track"
      aria-hidden="true"
      style={{ height: `${props.height}px` }}
      onPointerDown={(event) => {
        canvas.current!.setPointerCapture(event.pointerId);
        from.current = { x: event.clientX, t: timeAt(event) };
      }}
      onPointerMove={(event) => {
        if (from.current && Math.abs(event.clientX - from.current.x) >= DRAG_MIN_PX)
          setDrag(between(from.current.t, timeAt(event)));
      }}
      onPointerUp={ended}
      onPointerCancel={() => {
        from.current = null;
        setDrag(null);
      }}
    />
  );
}
