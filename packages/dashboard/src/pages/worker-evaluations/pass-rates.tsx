import { Box, Skeleton, Text } from '@mantine/core';
import { lazy, Suspense, useMemo } from 'react';
import type { EvaluationTable } from '../../shell/api';

const PassRatePlot = lazy(() => import('./pass-rate-plot'));

/** The minimum number of points for a line. */
const POINTS_MIN = 3;

/** Plots the share of passed examples by version; renders nothing for too few versions. */
export function PassRates({ versions }: { versions: EvaluationTable['versions'] }) {
  const points = useMemo(
    () =>
      versions
        .flatMap(({ version, totals, status }) =>
          totals && totals.total > 0 && status !== 'running' ? [{ version, share: totals.passed / totals.total }] : [],
        )
        .reverse(),
    [versions],
  );
  if (points.length < POINTS_MIN) return null;
  return (
    <Box component="figure" m="24px 0 0" pt="md" style={{ borderTop: '1px solid var(--line)' }}>
      <Text component="figcaption" mb="xs" fz="xs" fw={600} c="dimmed">
        Pass rate by version
      </Text>
      <Suspense fallback={<Skeleton height={140} />}>
        <PassRatePlot points={points} />
      </Suspense>
    </Box>
  );
}
