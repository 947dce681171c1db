import { Box } from '@mantine/core';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatPercent } from '../../ui/format';
import { getPlotStyle, usePlot } from '../../ui/use-plot';

/** Oldest version first; `share` from 0 to 1. */
interface PassRatePlotProps {
  points: { version: number; share: number }[];
}

const HEIGHT_PX = 140;

/** Plots pass rates with evenly spaced versions; the table's head has the same data as text. */
export default function PassRatePlot({ points }: PassRatePlotProps) {
  const box = usePlot((element) => new uPlot(buildPlotOptions(element, points), toPlotData(points), element), [points]);

  const description = points.map(({ version, share }) => `version ${version} ${formatPercent(share)}`).join(', ');
  return (
    <Box
      ref={box}
      h={140}
      style={{ overflow: 'hidden' }}
      role="img"
      aria-label={`Pass rate by version: ${description}`}
    />
  );
}

const toPlotData = (points: PassRatePlotProps['points']): uPlot.AlignedData => [
  points.map((_, at) => at),
  points.map(({ share }) => share),
];

function buildPlotOptions(element: HTMLElement, points: PassRatePlotProps['points']): uPlot.Options {
  const { axis, frame, line } = getPlotStyle(element, HEIGHT_PX);
  return {
    ...frame,
    padding: [10, 16, 0, 0],
    scales: {
      x: { time: false, range: [-0.25, points.length - 0.75] },
      y: { range: [0, 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 26,
        splits: () => points.map((_, at) => at),
        values: (_plot, places) => places.map((at) => `v${points[at]?.version ?? ''}`),
      },
      { ...axis, size: 52, splits: () => [0, 0.5, 1], values: (_plot, shares) => shares.map(formatPercent) },
    ],
    series: [{}, line],
  };
}
