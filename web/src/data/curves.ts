// SPDX-License-Identifier: Apache-2.0
/** A line's curve at the times of the process's points: between two points it is straight. */
export function resampled(
  times: readonly number[],
  points: readonly { t_s: number; live_bytes: number }[],
): (number | null)[] {
  let i = 0;
  return times.map((t) => {
    while (i + 1 < points.length && points[i + 1].t_s <= t) i++;
    const a = points[i];
    const b = points[i + 1];
    if (!a || t < a.t_s) return null;
    if (!b) return a.live_bytes;
    return a.live_bytes + ((b.live_bytes - a.live_bytes) * (t - a.t_s)) / (b.t_s - a.t_s || 1);
  });
}
