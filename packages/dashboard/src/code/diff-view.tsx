import { Skeleton } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import type { DiffSurfaceProps } from './diff-surface';
import styles from './diff-view.module.css';

const DiffSurface = lazy(() => import('./diff-surface'));

/** In less room, two texts beside each other are too narrow to read. */
const SIDE_BY_SIDE_PX = 720;

/** Two texts beside each other, or in little room as one, with the lines that differ; long equal parts are folded away. */
export function DiffView(props: Omit<DiffSurfaceProps, 'unified'>) {
  const { ref, width } = useElementSize();
  const unified = width < SIDE_BY_SIDE_PX;
  return (
    <div ref={ref} className={styles.diff}>
      {width > 0 && (
        <Suspense fallback={<Skeleton height={160} radius={0} />}>
          <DiffSurface key={String(unified)} {...props} unified={unified} />
        </Suspense>
      )}
    </div>
  );
}
