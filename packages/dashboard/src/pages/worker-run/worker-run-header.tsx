import { Button, Group } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { lazy } from 'react';
import { Link, useNavigate } from 'react-router';
import { getRunStatusDisplay, RunStatusChip, toRunStatusDetails } from '../../runs/run-status';
import { useRunStarterLabel } from '../../runs/use-run-starter-label';
import { isRunFinished, workerRunKey } from '../../runs/worker-runs';
import { api, type Worker, type WorkerRun } from '../../shell/api';
import { LinkButton } from '../../shell/link-button';
import { workerConversationPath, workerPath, workerRunPath } from '../../shell/paths';
import { useWorkspace } from '../../shell/use-me';
import { DialogButton } from '../../ui/dialog-button';
import { formatDollars, formatDuration } from '../../ui/format';
import { ErrorNotice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Timestamp } from '../../ui/timestamp';
import { RepairButton } from './repair-button';
import { SaveAsExampleButton } from './save-as-example-button';

const ReplayDialog = lazy(() => import('./replay-dialog'));
const ShareDialog = lazy(() => import('./share-dialog'));

interface WorkerRunHeaderProps {
  run: WorkerRun;
  worker: Worker | undefined;
}

export function WorkerRunHeader({ run, worker }: WorkerRunHeaderProps) {
  const role = useWorkspace()?.role;
  const canChange = role !== undefined && role !== 'viewer';
  const shownRunStatus = toRunStatusDetails(run);
  const getStarter = useRunStarterLabel();
  return (
    <PageHeader
      title={worker?.name ?? run.worker_id}
      about={
        <>
          <RunStatusChip {...shownRunStatus} />
          {run.worker_version !== null && <span>Version {run.worker_version}</span>}
          <span>{getStarter({ trigger: run.trigger, createdBy: run.created_by })}</span>
          <Timestamp at={Date.parse(run.started_at ?? run.created_at)} />
          {run.conversation_id !== null && (
            <Link to={workerConversationPath(run.worker_id, run.conversation_id)}>View conversation</Link>
          )}
          {run.duration_ms !== null && <span>Took {formatDuration(run.duration_ms)}</span>}
          {run.total_cost_usd > 0 && <span>{formatDollars(run.total_cost_usd)}</span>}
          <span className="visually-hidden" role="status">
            {`Run: ${getRunStatusDisplay(shownRunStatus).word}. ${run.error ?? ''}`}
          </span>
        </>
      }
      actions={
        <Group gap="xs">
          {canChange && (
            <DialogButton label="Share…">{(close) => <ShareDialog run={run} onClose={close} />}</DialogButton>
          )}
          {worker && <SaveAsExampleButton run={run} worker={worker} />}
          {worker && <RepairButton run={run} worker={worker} />}
          {isRunFinished(run)
            ? worker?.permissions.run && run.trigger !== 'rehearsal' && <RunAgainButton run={run} worker={worker} />
            : canChange && <CancelButton run={run} />}
        </Group>
      }
    />
  );
}

/** Replays a run. The code of a test is not stored, so its button opens the editor. */
const RunAgainButton = ({ run, worker }: { run: WorkerRun; worker: Worker }) =>
  run.trigger === 'test' ? (
    <LinkButton variant="default" to={workerPath(worker.id, 'workerCode')}>
      View code
    </LinkButton>
  ) : (
    <ReplayButtons run={run} worker={worker} />
  );

function ReplayButtons({ run, worker }: { run: WorkerRun; worker: Worker }) {
  const navigate = useNavigate();
  const replay = useMutation({
    mutationFn: () => api.worker.POST('/api/runs/{run_id}/replay', { params: { path: { run_id: run.id } } }),
    onSuccess: (started) => navigate(workerRunPath(started.run_id)),
  });
  return (
    <>
      <DialogButton label="Run with changes…">
        {(close) => <ReplayDialog run={run} worker={worker} onClose={close} />}
      </DialogButton>
      <Button loading={replay.isPending} onClick={() => replay.mutate()}>
        Run again
      </Button>
      <ErrorNotice title="Run not started" error={replay.error} />
    </>
  );
}

function CancelButton({ run }: { run: WorkerRun }) {
  const queryClient = useQueryClient();
  const cancel = useMutation({
    mutationFn: () => api.worker.POST('/api/runs/{run_id}/cancel', { params: { path: { run_id: run.id } } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: workerRunKey(run.workspace_id, run.id) }),
  });
  const isCancelling = cancel.isPending || cancel.isSuccess || run.cancel_requested;
  return (
    <>
      <Button variant="default" disabled={isCancelling} onClick={() => cancel.mutate()}>
        {isCancelling ? 'Cancelling…' : 'Cancel run'}
      </Button>
      <ErrorNotice title="Run not cancelled" error={cancel.error} />
    </>
  );
}
