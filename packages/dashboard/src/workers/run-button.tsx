import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Worker } from '../shell/api';
import { PlayIcon } from '../ui/icons';

const RunDialog = lazy(() => import('./run-dialog'));

/** Opens the form of a run. */
export function RunButton({ worker }: { worker: Worker }) {
  const [open, setOpen] = useState(false);
  if (!worker.permissions.run || worker.status !== 'active') return null;
  return (
    <>
      <Button variant="default" leftSection={<PlayIcon />} onClick={() => setOpen(true)}>
        Run
      </Button>
      {open && (
        <Suspense>
          <RunDialog workerId={worker.id} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
