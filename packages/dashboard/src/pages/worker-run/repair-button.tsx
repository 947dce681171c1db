import { lazy } from 'react';
import type { Worker, WorkerRun } from '../../shell/api';
import { DialogButton } from '../../ui/dialog-button';
import { ToolIcon } from '../../ui/icons';
import { canEditWorker } from '../../workers/can-edit-worker';
import { isRepairable, isRepairOpen, useRepair } from './repair-queries';

const RepairDialog = lazy(() => import('./repair-dialog'));

/** Offers a repair of a failed run to members who can edit its worker, unless one is open. */
export function RepairButton({ run, worker }: { run: WorkerRun; worker: Worker }) {
  const { data: repair } = useRepair(run);
  const isOffered = isRepairable(run) && canEditWorker(worker);
  const isLoading = run.repair_id !== null && !repair;
  if (!isOffered || isLoading || (repair && isRepairOpen(repair))) return null;
  return (
    <DialogButton label={repair ? 'Repair again…' : 'Repair…'} leftSection={<ToolIcon />}>
      {(close) => <RepairDialog run={run} onClose={close} />}
    </DialogButton>
  );
}
