import { Skeleton } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { lazy, Suspense } from 'react';
import type { DiffSurfaceProps } from './diff-surface';
import styles from './diff-view.module.css';

const DiffSurface = lazy(() => import('./diff-surface'));

/** Below this width, two texts side by side are too narrow to read. */
const SIDE_BY_SIDE_PX = 720;

/** Compares two texts side by side, or unified where narrow; long equal parts are folded. */
export function DiffView(props: Omit<DiffSurfaceProps, 'unified'>) {
  const { ref, width } = useElementSize();
  const unified = width < SIDE_BY_SIDE_PX;
  return (
    <div ref={ref} className={`${styles.diff} surface`}>
      {width > 0 && (
        <Suspense fallback={<Skeleton height={160} radius={0} />}>
          <DiffSurface key={String(unified)} {...props} unified={unified} />
        </Suspense>
      )}
    </div>
  );
}
