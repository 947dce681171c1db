import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { api, type Worker } from '../shell/api';
import { toast } from '../shell/toasts';
import { PauseIcon, PlayIcon } from '../ui/icons';
import { useUpdateCachedWorker } from './use-worker';

type PauseAction = 'pause' | 'resume';

export const pauseOrResumeWorker = (workerId: string, action: PauseAction): Promise<Worker> =>
  api.worker.POST(`/api/workers/{worker_id}/${action}`, { params: { path: { worker_id: workerId } } });

/** Pauses or resumes a worker, with undo. */
export function PauseButton({ worker }: { worker: Worker }) {
  const updateCachedWorker = useUpdateCachedWorker();
  const change = useMutation({
    mutationFn: (action: PauseAction) => pauseOrResumeWorker(worker.id, action),
    onSuccess: (updated, action) => {
      updateCachedWorker(updated);
      const [done, back] = action === 'pause' ? (['paused', 'resume'] as const) : (['resumed', 'pause'] as const);
      toast(`${worker.name} ${done}`, { undo: () => change.mutate(back) });
    },
    onError: (error, action) => toast(`Couldn’t ${action} ${worker.name}: ${error.message}`, { tone: 'error' }),
  });
  if (!worker.permissions.pause || worker.status === 'archived') return null;
  const paused = worker.status === 'paused';
  return (
    <Button
      variant="default"
      leftSection={paused ? <PlayIcon /> : <PauseIcon />}
      loading={change.isPending}
      onClick={() => change.mutate(paused ? 'resume' : 'pause')}
    >
      {paused ? 'Resume' : 'Pause'}
    </Button>
  );
}
