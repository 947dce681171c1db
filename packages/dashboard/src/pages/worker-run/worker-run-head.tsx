import { unwrap } from '@gantry/api-client';
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { type Worker, type WorkerRun, workerApi } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { duration } from '../../ui/format';
import { Failure } from '../../ui/notice';
import layout from '../../ui/page.module.css';
import { Timestamp } from '../../ui/timestamp';
import { isOver, workerRunKey } from './worker-run-source';
import { WorkerRunStatusChip, wordFor } from './worker-run-status';

interface WorkerRunHeadProps {
  run: WorkerRun;
  worker: Worker | undefined;
}

export function WorkerRunHead({ run, worker }: WorkerRunHeadProps) {
  const role = useWorkspace()?.role;
  return (
    <div className={layout.head}>
      <p className={layout.facts}>Run of the worker</p>
      <h1>{worker?.name ?? run.worker_id}</h1>
      <div className={layout.facts}>
        <WorkerRunStatusChip run={run} />
        <span>
          {run.duration_ms !== null && `in ${duration(run.duration_ms)}, `}
          <Timestamp at={Date.parse(run.started_at ?? run.created_at)} />
        </span>
        {run.worker_version !== null && <span>Version {run.worker_version}</span>}
        <span className="visually-hidden" role="status">
          {`Run: ${wordFor(run)}. ${run.error ?? ''}`}
        </span>
      </div>
      {isOver(run)
        ? worker?.permissions.run && <Replay run={run} />
        : role !== undefined && role !== 'viewer' && <Cancel run={run} />}
    </div>
  );
}

const idOf = (run: WorkerRun) => ({ params: { path: { run_id: run.id } } });

function Replay({ run }: { run: WorkerRun }) {
  const navigate = useNavigate();
  const replay = useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/runs/{run_id}/replay', idOf(run))),
    onSuccess: (started) => navigate(workerRunPath(started.run_id)),
  });
  return (
    <>
      <Button variant="default" loading={replay.isPending} onClick={() => replay.mutate()}>
        Run again with these inputs
      </Button>
      <Failure title="Nothing was started" error={replay.error} />
    </>
  );
}

function Cancel({ run }: { run: WorkerRun }) {
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/runs/{run_id}/cancel', idOf(run))),
    onSettled: () => queryClient.invalidateQueries({ queryKey: workerRunKey(run.id) }),
  });
  const stopping = cancel.isPending || cancel.isSuccess || run.cancel_requested;
  return (
    <>
      <Button variant="default" disabled={stopping} onClick={() => cancel.mutate()}>
        {stopping ? 'Cancelling…' : 'Cancel this run'}
      </Button>
      <Failure title="It goes on" error={cancel.error} />
    </>
  );
}
