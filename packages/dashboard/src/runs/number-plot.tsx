import { Box } from '@mantine/core';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { absoluteTime, figure } from '../ui/format';
import { plotStyle, usePlot } from '../ui/use-plot';

export interface Point {
  /** Epoch milliseconds. */
  at: number;
  value: number;
}

const HEIGHT_PX = 150;

/** Plots a number over past runs, with a text alternative. */
export default function NumberPlot({ label, points }: { label: string; points: Point[] }) {
  const box = usePlot((element) => new uPlot(options(element), dataOf(points), element), [points]);

  return <Box ref={box} h={150} style={{ overflow: 'hidden' }} role="img" aria-label={inWords(label, points)} />;
}

const dataOf = (points: Point[]): uPlot.AlignedData => [
  points.map(({ at }) => at / 1_000),
  points.map(({ value }) => value),
];

function inWords(label: string, points: Point[]): string {
  const values = points.map(({ value }) => value);
  const first = points[0];
  if (!first) return label;
  return `${label} over ${points.length} runs since ${absoluteTime(first.at)}: from ${figure(Math.min(...values))} to ${figure(Math.max(...values))}`;
}

const DAY_SECONDS = 86_400;
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });

/** Formats days, or the time of day where the plot spans less than two days. */
function timesOf(seconds: number[]): string[] {
  const span = (seconds.at(-1) ?? 0) - (seconds[0] ?? 0);
  const format = span < 2 * DAY_SECONDS ? clock : day;
  return seconds.map((at) => format.format(at * 1_000));
}

function options(element: HTMLElement): uPlot.Options {
  const { colour, axis } = plotStyle(element);
  return {
    width: element.clientWidth,
    height: HEIGHT_PX,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 8, 0, 0],
    axes: [
      { ...axis, grid: { show: false }, space: 90, values: (_plot, seconds) => timesOf(seconds) },
      { ...axis, size: 56, space: 36 },
    ],
    series: [
      {},
      {
        stroke: colour('--accent'),
        fill: colour('--accent-wash'),
        width: 2,
        points: { show: true, size: 6, fill: colour('--surface'), stroke: colour('--accent') },
      },
    ],
  };
}
