import { Button } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import type { Worker, WorkerRun } from '../../shell/api';

const ExampleDialog = lazy(() => import('../../evaluations/example-dialog'));

/** Saves a correct run as an example, which later versions are evaluated on. */
export function SaveAsExampleButton({ run, worker }: { run: WorkerRun; worker: Worker }) {
  const [isDialogOpen, setDialogOpen] = useState(false);
  const isOffered = run.status === 'completed' && run.trigger !== 'test' && run.trigger !== 'rehearsal';
  if (!isOffered || !worker.permissions.edit || worker.status === 'archived') return null;
  return (
    <>
      <Button variant="default" onClick={() => setDialogOpen(true)}>
        Save as example…
      </Button>
      {isDialogOpen && (
        <Suspense>
          <ExampleDialog worker={worker} runId={run.id} onClose={() => setDialogOpen(false)} />
        </Suspense>
      )}
    </>
  );
}
