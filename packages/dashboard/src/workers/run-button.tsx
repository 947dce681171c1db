import { lazy } from 'react';
import type { Worker } from '../shell/api';
import { DialogButton } from '../ui/dialog-button';
import { PlayIcon } from '../ui/icons';

const RunDialog = lazy(() => import('./run-dialog'));

/** Opens the form of a run. */
export function RunButton({ worker }: { worker: Worker }) {
  if (!worker.permissions.run || worker.status !== 'active') return null;
  return (
    <DialogButton label="Run" leftSection={<PlayIcon />}>
      {(close) => <RunDialog workerId={worker.id} onClose={close} />}
    </DialogButton>
  );
}
