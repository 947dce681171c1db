import { unwrap } from '@gantry/sdk';
import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { lookOf, RunStatusChip, shownStatus } from '../../runs/run-status';
import { useStarter } from '../../runs/use-starter';
import { isOver, workerRunKey } from '../../runs/worker-runs';
import { type Worker, type WorkerRun, workerApi } from '../../shell/api';
import { workerPath, workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { dollars, duration } from '../../ui/format';
import { Failure } from '../../ui/notice';
import { PageHead } from '../../ui/page-head';
import { Timestamp } from '../../ui/timestamp';
import { RepairButton } from './repair-button';
import { SaveAsExample } from './save-as-example';

const ReplayDialog = lazy(() => import('./replay-dialog'));
const ShareDialog = lazy(() => import('./share-dialog'));

interface WorkerRunHeadProps {
  run: WorkerRun;
  worker: Worker | undefined;
}

export function WorkerRunHead({ run, worker }: WorkerRunHeadProps) {
  const role = useWorkspace()?.role;
  const mayChange = role !== undefined && role !== 'viewer';
  const shown = shownStatus(run);
  const starterOf = useStarter();
  return (
    <PageHead
      title={worker?.name ?? run.worker_id}
      about={
        <>
          <RunStatusChip {...shown} />
          {run.worker_version !== null && <span>Version {run.worker_version}</span>}
          <span>{starterOf({ trigger: run.trigger, createdBy: run.created_by })}</span>
          <Timestamp at={Date.parse(run.started_at ?? run.created_at)} />
          {run.duration_ms !== null && <span>Took {duration(run.duration_ms)}</span>}
          {run.total_cost_usd > 0 && <span>{dollars(run.total_cost_usd)}</span>}
          <span className="visually-hidden" role="status">
            {`Run: ${lookOf(shown).word}. ${run.error ?? ''}`}
          </span>
        </>
      }
      actions={
        <Group gap="xs">
          {mayChange && <Share run={run} />}
          {worker && <SaveAsExample run={run} worker={worker} />}
          {worker && <RepairButton run={run} worker={worker} />}
          {isOver(run)
            ? worker?.permissions.run && run.trigger !== 'rehearsal' && <Again run={run} worker={worker} />
            : mayChange && <Cancel run={run} />}
        </Group>
      }
    />
  );
}

const idOf = (run: WorkerRun) => ({ params: { path: { run_id: run.id } } });

/** Replays a run. The code of a test is not stored, so its button opens the editor. */
const Again = ({ run, worker }: { run: WorkerRun; worker: Worker }) =>
  run.trigger === 'rehearsal' ? null : run.trigger === 'test' ? (
    <Button variant="default" component={Link} to={workerPath(worker.id, 'workerCode')}>
      Open the code
    </Button>
  ) : (
    <Replay run={run} worker={worker} />
  );

function Replay({ run, worker }: { run: WorkerRun; worker: Worker }) {
  const navigate = useNavigate();
  const [changing, setChanging] = useState(false);
  const replay = useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/runs/{run_id}/replay', idOf(run))),
    onSuccess: (started) => navigate(workerRunPath(started.run_id)),
  });
  return (
    <>
      <Button variant="default" onClick={() => setChanging(true)}>
        Change and run…
      </Button>
      <Button loading={replay.isPending} onClick={() => replay.mutate()}>
        Run again
      </Button>
      <Failure title="The run was not started" error={replay.error} />
      {changing && (
        <Suspense>
          <ReplayDialog run={run} worker={worker} onClose={() => setChanging(false)} />
        </Suspense>
      )}
    </>
  );
}

function Share({ run }: { run: WorkerRun }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setOpen(true)}>
        Share…
      </Button>
      {open && (
        <Suspense>
          <ShareDialog run={run} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

function Cancel({ run }: { run: WorkerRun }) {
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: async () => unwrap((await workerApi()).POST('/api/runs/{run_id}/cancel', idOf(run))),
    onSettled: () => queryClient.invalidateQueries({ queryKey: workerRunKey(run.workspace_id, run.id) }),
  });
  const stopping = cancel.isPending || cancel.isSuccess || run.cancel_requested;
  return (
    <>
      <Button variant="default" disabled={stopping} onClick={() => cancel.mutate()}>
        {stopping ? 'Cancelling…' : 'Cancel this run'}
      </Button>
      <Failure title="The run was not cancelled" error={cancel.error} />
    </>
  );
}
