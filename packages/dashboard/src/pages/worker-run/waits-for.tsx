import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { Notice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';
import { PendingApproval } from './pending-approval';

/** Why a run that holds no process does not go on yet, and what can be done about it. */
export function WaitsFor({ run }: { run: WorkerRun }) {
  const approval = run.approvals.find(({ status }) => status === 'pending');
  if (run.status === 'pending_approval' && approval) return <PendingApproval run={run} approvalId={approval.id} />;
  const reason = reasonOf(run);
  return reason && <Notice tone="info">{reason}</Notice>;
}

function reasonOf({ waiting_for: waiting, queue_position: place }: WorkerRun): ReactNode {
  if (waiting?.run_id) {
    return (
      <>
        It waits for <Link to={workerRunPath(waiting.run_id)}>the run that it has called</Link>.
      </>
    );
  }
  if (waiting?.until) {
    return (
      <>
        {waiting.kind === 'retry' ? 'It is tried again' : 'It sleeps, and goes on'}{' '}
        <Timestamp at={Date.parse(waiting.until)} />.
      </>
    );
  }
  return place !== null && `Number ${place} in the queue.`;
}
