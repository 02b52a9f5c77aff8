// SPDX-License-Identifier: Apache-2.0
// A curve over time, by uPlot. What it shows is also in a table that each view has beside it.
import type { JSX } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { bytes, clock } from "../base/format";
import { colour, theme } from "../base/theme";
import type { Period } from "../data/filter";
import { scale } from "./window";

export interface Line {
  title: string;
  /** Custom property of the style sheet. */
  colour: string;
  filled?: boolean;
  values: (number | null)[];
}

interface Props {
  label: string;
  times: number[];
  lines: Line[];
  height: number;
  mark?: { t_s: number; title: string } | null;
  period?: Period | null;
}

function axes(): uPlot.Axis[] {
  const by = scale();
  const common: uPlot.Axis = {
    stroke: colour("dim"),
    grid: { stroke: colour("hair"), width: 1 },
    ticks: { show: false },
    font: `${Math.round(11 * by)}px system-ui, sans-serif`,
  };
  return [
    { ...common, grid: { show: false }, size: 24 * by, space: 60 * by, gap: 4, values: (_, ticks) => ticks.map(clock) },
    {
      ...common,
      size: 62 * by,
      space: 30 * by,
      gap: 6,
      values: (_, ticks) => ticks.map((tick) => (tick === 0 ? "0" : bytes(tick))),
    },
  ];
}

function markAt(plot: uPlot, t_s: number): void {
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(t_s, "x", true));
  ctx.save();
  ctx.strokeStyle = colour("hot");
  ctx.setLineDash([3, 3]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

function shade(plot: uPlot, period: Period): void {
  const { ctx, bbox } = plot;
  const from = Math.max(bbox.left, plot.valToPos(period.from_s, "x", true));
  const to = Math.min(bbox.left + bbox.width, plot.valToPos(period.to_s, "x", true));
  ctx.save();
  ctx.fillStyle = colour("chosen");
  ctx.fillRect(from, bbox.top, Math.max(1, to - from), bbox.height);
  ctx.restore();
}

function optionsOf(props: Props, width: number): uPlot.Options {
  return {
    width,
    height: props.height,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 }, y: false },
    scales: { x: { time: false }, y: { range: (_, __, high) => [0, high > 0 ? high * 1.08 : 1] } },
    axes: axes(),
    padding: [6, 20 * scale(), 0, 0], // half of the last time
    series: [
      {},
      ...props.lines.map((line) => ({
        label: line.title,
        stroke: colour(line.colour),
        width: 1.5,
        fill: line.filled ? colour(`${line.colour}-pale`) : undefined,
        points: { show: false },
        spanGaps: true,
      })),
    ],
    hooks: {
      drawClear: props.period ? [(plot) => shade(plot, props.period!)] : [],
      draw: props.mark ? [(plot) => markAt(plot, props.mark!.t_s)] : [],
    },
  };
}

export function Curve(props: Props): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const says = useRef<HTMLParagraphElement>(null);
  const painted = theme.value;
  useLayoutEffect(() => {
    const element = holder.current!;
    const data = [props.times, ...props.lines.map((line) => line.values)] as uPlot.AlignedData;
    const options = optionsOf(props, element.clientWidth || 300);
    options.hooks!.setCursor = [
      (plot) => {
        const i = plot.cursor.idx;
        if (!says.current) return;
        says.current.textContent =
          i === null || i === undefined
            ? ""
            : [
                clock(props.times[i]),
                ...props.lines.map((line) => `${line.title} ${bytes(line.values[i] ?? null)}`),
              ].join("   ");
      },
    ];
    const plot = new uPlot(options, data, element);
    const observer = new ResizeObserver(() => {
      if (element.clientWidth > 0 && element.clientWidth !== plot.width)
        plot.setSize({ width: element.clientWidth, height: props.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      plot.destroy();
    };
  }, [props.times, props.lines, props.height, props.period?.from_s, props.period?.to_s, painted]);
  return (
    <figure class="curve" aria-label={props.label}>
      <div class="plot" ref={holder} aria-hidden="true" style={{ height: `${props.height}px` }} />
      <figcaption>
        {props.lines.map((line) => (
          <span class="key">
            <span class="dot" style={{ background: `var(--${line.colour})` }} aria-hidden="true" />
            {line.title}
          </span>
        ))}
        {props.mark && (
          <span class="key">
            <span class="dash" aria-hidden="true" />
            {props.mark.title}
          </span>
        )}
        <span class="says" ref={says} aria-hidden="true" />
      </figcaption>
    </figure>
  );
}
