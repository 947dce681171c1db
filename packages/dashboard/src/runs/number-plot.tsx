import { Box } from '@mantine/core';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatAbsoluteTime, formatNumber } from '../ui/format';
import { getPlotStyle, usePlot } from '../ui/use-plot';

export interface Point {
  /** Epoch milliseconds. */
  at: number;
  value: number;
}

const HEIGHT_PX = 150;

/** Plots a number over past runs, with a text alternative. */
export default function NumberPlot({ label, points }: { label: string; points: Point[] }) {
  const box = usePlot((element) => new uPlot(buildPlotOptions(element), toPlotData(points), element), [points]);

  return <Box ref={box} h={150} style={{ overflow: 'hidden' }} role="img" aria-label={describePlot(label, points)} />;
}

const toPlotData = (points: Point[]): uPlot.AlignedData => [
  points.map(({ at }) => at / 1_000),
  points.map(({ value }) => value),
];

function describePlot(label: string, points: Point[]): string {
  const values = points.map(({ value }) => value);
  const first = points[0];
  if (!first) return label;
  return `${label} over ${points.length} runs since ${formatAbsoluteTime(first.at)}: from ${formatNumber(Math.min(...values))} to ${formatNumber(Math.max(...values))}`;
}

const DAY_SECONDS = 86_400;
const dayFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const clockFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Formats days, or the time of day where the plot spans less than two days. */
function formatTimes(seconds: number[]): string[] {
  const span = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0);
  const format = span < 2 * DAY_SECONDS ? clockFormat : dayFormat;
  return seconds.map((at) => format.format(at * 1_000));
}

function buildPlotOptions(element: HTMLElement): uPlot.Options {
  const { axis, frame, line } = getPlotStyle(element, HEIGHT_PX);
  return {
    ...frame,
    padding: [8, 8, 0, 0],
    axes: [
      { ...axis, grid: { show: false }, space: 90, values: (_plot, seconds) => formatTimes(seconds) },
      { ...axis, size: 56, space: 36 },
    ],
    series: [{}, line],
  };
}
