import { lazy } from 'react';
import type { Worker, WorkerRun } from '../../shell/api';
import { DialogButton } from '../../ui/dialog-button';
import { canEditWorker } from '../../workers/can-edit-worker';

const ExampleDialog = lazy(() => import('../../evaluations/example-dialog'));

/** Saves a correct run as an example, which later versions are evaluated on. */
export function SaveAsExampleButton({ run, worker }: { run: WorkerRun; worker: Worker }) {
  const isOffered = run.status === 'completed' && run.trigger !== 'test' && run.trigger !== 'rehearsal';
  if (!isOffered || !canEditWorker(worker)) return null;
  return (
    <DialogButton label="Save as example…">
      {(close) => <ExampleDialog worker={worker} runId={run.id} onClose={close} />}
    </DialogButton>
  );
}
