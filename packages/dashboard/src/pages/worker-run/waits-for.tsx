import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { PendingApproval } from '../../approvals/pending-approval';
import { questionId } from '../../runs/conversation/made-call';
import type { WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { Notice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

/** Explains why a run without a process is waiting, and what can be done about it. */
export function WaitsFor({ run, isAgent }: { run: WorkerRun; isAgent: boolean }) {
  const approval = run.approvals.find(({ status }) => status === 'pending');
  if (run.status === 'pending_approval' && approval) {
    // An agent's question is shown in the conversation, below its tool call.
    if (isAgent && isOfStep(run, approval.id)) return <ToQuestion title={approval.title} approvalId={approval.id} />;
    return <PendingApproval run={run} approvalId={approval.id} />;
  }
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
        {waiting.kind === 'retry' ? 'It is retried' : 'It sleeps, and resumes'}{' '}
        <Timestamp at={Date.parse(waiting.until)} />.
      </>
    );
  }
  return place !== null && `Number ${place} in the queue.`;
}

const isOfStep = ({ steps }: WorkerRun, approvalId: string): boolean =>
  steps.some(({ approval_id: id }) => id === approvalId);

function ToQuestion({ title, approvalId }: { title: string; approvalId: string }) {
  function go() {
    const place = document.getElementById(questionId(approvalId));
    place?.scrollIntoView({ block: 'center' });
    place?.querySelector<HTMLElement>('input, textarea, button')?.focus({ preventScroll: true });
  }
  return (
    <Notice
      tone="info"
      title="The agent waits for a person"
      action={
        <Button variant="default" onClick={go}>
          Go to the question
        </Button>
      }
    >
      {title}
    </Notice>
  );
}
