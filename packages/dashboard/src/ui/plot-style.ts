import type uPlot from 'uplot';

/** The page's colours, and an axis in its type: style sheets don't reach what is drawn on a canvas. */
export function plotStyle(element: HTMLElement): { colour: (name: string) => string; axis: uPlot.Axis } {
  const css = getComputedStyle(element);
  const colour = (name: string) => css.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour('--ink-soft'),
    font: `12px ${css.fontFamily}`,
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return { colour, axis };
}
