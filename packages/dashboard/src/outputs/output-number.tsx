import { unwrap } from '@gantry/api-client';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { runKeys } from '../runs/run-keys';
import { api } from '../shell/api';
import { figure } from '../ui/format';
import type { Point } from './number-plot';
import styles from './output-number.module.css';

const NumberPlot = lazy(() => import('./number-plot'));

const RUNS_PLOTTED = 100;

interface OutputNumberProps {
  automationId: string;
  output: { name: string; label: string; value: number };
  withHistory: boolean;
}

export function OutputNumber({ automationId, output, withHistory }: OutputNumberProps) {
  const { data: points = [], isPending } = useQuery({
    queryKey: runKeys.outputs(automationId),
    enabled: withHistory,
    queryFn: () =>
      unwrap(
        api.GET('/api/runs', {
          params: { query: { automationId, status: 'success', outputs: true, limit: RUNS_PLOTTED } },
        }),
      ),
    select: ({ runs }) => pointsOf(runs, output.name),
  });
  // The place of the plot is kept while it loads, and given up only where there is nothing to plot.
  const plotted = withHistory && (isPending || points.length > 1);
  return (
    <div className={styles.number}>
      <p className={styles.figure}>{figure(output.value)}</p>
      {plotted && (
        <div className={styles.plot}>
          {!isPending && (
            <Suspense>
              <NumberPlot label={output.label} points={points} />
            </Suspense>
          )}
        </div>
      )}
    </div>
  );
}

interface Finished {
  completedAt: number | null;
  outputs?: Record<string, unknown>;
}

/** Oldest first. */
function pointsOf(runs: Finished[], name: string): Point[] {
  return runs
    .flatMap(({ completedAt, outputs }) => {
      const value = outputs?.[name];
      return completedAt !== null && typeof value === 'number' ? [{ at: completedAt, value }] : [];
    })
    .reverse();
}
