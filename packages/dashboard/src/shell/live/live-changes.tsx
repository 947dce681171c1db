import { Box } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useSession } from '../session';
import { useWorkspace } from '../use-me';
import styles from './live-changes.module.css';
import { liveConnection } from './live-connection';
import { useHasSlowRequest } from './slow-requests';

const ChangeSubscriber = lazy(() => import('./change-subscriber'));

/** Keeps the page up to date for signed-in members, and shows a notice while it can't. */
export function LiveChanges() {
  const { status } = useSession();
  const workspace = useWorkspace();
  const isOffline = liveConnection.useValue() === 'offline';
  const isSlow = useHasSlowRequest();
  if (status !== 'signed-in' || !workspace) return null;
  return (
    <>
      <Suspense>
        <ChangeSubscriber workspaceId={workspace.id} />
      </Suspense>
      <div role="status" className={styles.place}>
        {(isOffline || isSlow) && (
          <p className={styles.note}>
            <Box component="span" flex="none" w="0.5rem" h="0.5rem" bdrs="50%" bg="currentcolor" aria-hidden="true" />
            {isOffline
              ? 'Disconnected from Gantry. This page may be out of date.'
              : 'Gantry is slow to respond. Still waiting…'}
          </p>
        )}
      </div>
    </>
  );
}
