import { Box } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { api } from '../shell/api';
import type { Point } from './number-plot';
import { runKeys } from './run-keys';

const NumberPlot = lazy(() => import('./number-plot'));

const RUNS_PLOTTED = 100;

interface NumberHistoryProps {
  automationId: string;
  output: { name: string; label: string };
}

/** Plots a numeric output over past runs; nothing where only one run has it. */
export function NumberHistory({ automationId, output }: NumberHistoryProps) {
  const { data: points = [], isPending } = useQuery({
    queryKey: runKeys.outputs(automationId),
    queryFn: () =>
      api.automation.GET('/api/runs', {
        params: { query: { automationId, status: 'success', outputs: true, limit: RUNS_PLOTTED } },
      }),
    select: ({ runs }) => toPoints(runs, output.name),
  });
  if (!isPending && points.length < 2) return null;
  // The place of the plot is kept while it loads.
  return (
    <Box h={150}>
      {!isPending && (
        <Suspense>
          <NumberPlot label={output.label} points={points} />
        </Suspense>
      )}
    </Box>
  );
}

interface FinishedRun {
  completedAt: number | null;
  outputs?: Record<string, unknown>;
}

/** Converts runs to points, oldest first. */
function toPoints(runs: FinishedRun[], name: string): Point[] {
  return runs
    .flatMap(({ completedAt, outputs }) => {
      const value = outputs?.[name];
      return completedAt !== null && typeof value === 'number' ? [{ at: completedAt, value }] : [];
    })
    .reverse();
}
