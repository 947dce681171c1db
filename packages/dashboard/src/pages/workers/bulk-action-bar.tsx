import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import type { WorkerItem } from '../../shell/api';
import { toast } from '../../shell/toasts';
import { PauseIcon, PlayIcon } from '../../ui/icons';
import { SelectionBar } from '../../ui/selection-bar';
import { pauseOrResumeWorker } from '../../workers/pause-button';
import { useInvalidateWorkers } from '../../workers/use-worker';

type StatusAction = 'pause' | 'resume';

const CONCURRENCY = 4;
const ACTION_RESULTS: Record<StatusAction, string> = { pause: 'paused', resume: 'resumed' };

const formatWorkerCount = (count: number): string => (count === 1 ? '1 worker' : `${count} workers`);

/** Pauses or resumes the selected workers. */
export function BulkActionBar({ workers, onClear }: { workers: WorkerItem[]; onClear: () => void }) {
  const invalidateWorkers = useInvalidateWorkers();
  const change = useMutation({
    mutationFn: async ({ action, ids }: { action: StatusAction; ids: string[] }) => {
      const outcomes = await changeStatuses(ids, action);
      await invalidateWorkers();
      return outcomes;
    },
    onSuccess: ({ moved: changedIds, refused: errors }, { action }) => {
      const undoAction = action === 'pause' ? 'resume' : 'pause';
      if (changedIds.length) {
        const undo = () => change.mutate({ action: undoAction, ids: changedIds });
        toast(`${formatWorkerCount(changedIds.length)} ${ACTION_RESULTS[action]}`, { undo });
      }
      const [first] = errors;
      if (first) toast(`Couldn’t ${action} ${formatWorkerCount(errors.length)}: ${first}`, { tone: 'error' });
    },
  });
  const active = workers.filter(({ status }) => status === 'active').map(({ id }) => id);
  const paused = workers.filter(({ status }) => status === 'paused').map(({ id }) => id);
  const button = { variant: 'default', loading: change.isPending };
  if (workers.length === 0) return null;
  return (
    <SelectionBar label="Selected workers" count={`${workers.length} selected`} onClear={onClear}>
      {active.length > 0 && (
        <Button leftSection={<PauseIcon />} {...button} onClick={() => change.mutate({ action: 'pause', ids: active })}>
          Pause
        </Button>
      )}
      {paused.length > 0 && (
        <Button leftSection={<PlayIcon />} {...button} onClick={() => change.mutate({ action: 'resume', ids: paused })}>
          Resume
        </Button>
      )}
    </SelectionBar>
  );
}

/** Changes a few at a time. @returns the changed ids, and the errors of the others */
async function changeStatuses(ids: string[], action: StatusAction): Promise<{ moved: string[]; refused: string[] }> {
  const remainingIds = [...ids];
  const changedIds: string[] = [];
  const errors: string[] = [];
  const changeNextWorker = async () => {
    for (let id = remainingIds.shift(); id !== undefined; id = remainingIds.shift()) {
      try {
        await pauseOrResumeWorker(id, action);
        changedIds.push(id);
      } catch (error) {
        errors.push(error instanceof Error ? error.message : String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, changeNextWorker));
  return { moved: changedIds, refused: errors };
}
