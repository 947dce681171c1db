import { useComputedColorScheme } from '@mantine/core';
import { type DependencyList, type RefObject, useEffect, useRef } from 'react';
import type uPlot from 'uplot';

/**
 * Keeps a plot in an element: as wide as the element, and drawn anew when `deps` or the colour scheme change.
 * @param draw makes the plot inside the element
 * @returns the element's ref
 */
export function usePlot(draw: (element: HTMLElement) => uPlot, deps: DependencyList): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme('light');

  // biome-ignore lint/correctness/useExhaustiveDependencies: `draw` is new each time; the scheme sets the colors.
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const plot = draw(element);
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: plot.height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [...deps, scheme]);

  return box;
}

/** Returns the page's colours and an axis in its font: style sheets don't apply to a canvas. */
export function getPlotStyle(element: HTMLElement, heightPx: number) {
  const css = getComputedStyle(element);
  const getColour = (name: string) => css.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: getColour('--ink-soft'),
    font: `12px ${css.fontFamily}`,
    grid: { stroke: getColour('--line'), width: 1 },
    ticks: { show: false },
  };
  const frame = { width: element.clientWidth, height: heightPx, legend: { show: false }, cursor: { show: false } };
  /** A line with a point for each value, over a filled area. */
  const line: uPlot.Series = {
    stroke: getColour('--accent'),
    fill: getColour('--accent-wash'),
    width: 2,
    points: { show: true, size: 6, fill: getColour('--surface'), stroke: getColour('--accent') },
  };
  return { colour: getColour, axis, frame, line };
}
