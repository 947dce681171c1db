import { Skeleton } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import type { DiffSurfaceProps } from './diff-surface';
import styles from './diff-view.module.css';

const DiffSurface = lazy(() => import('./diff-surface'));

/** Below it two texts beside each other are too narrow to read. */
const SIDE_BY_SIDE = '(min-width: 60rem)';

/** Two texts beside each other, or on narrow screens as one, with the lines that differ; long equal parts are folded away. */
export function DiffView(props: Omit<DiffSurfaceProps, 'unified'>) {
  const sideBySide = useMediaQuery(SIDE_BY_SIDE, undefined, { getInitialValueInEffect: false });
  return (
    <div className={styles.diff}>
      <Suspense fallback={<Skeleton height={160} radius={0} />}>
        <DiffSurface key={String(sideBySide)} {...props} unified={!sideBySide} />
      </Suspense>
    </div>
  );
}
