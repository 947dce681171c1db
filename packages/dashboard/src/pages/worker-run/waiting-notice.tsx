import { Button } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { PendingApproval } from '../../approvals/pending-approval';
import { getQuestionElementId } from '../../runs/conversation/agent-call-item';
import type { WorkerRun } from '../../shell/api';
import { workerRunPath } from '../../shell/paths';
import { Notice } from '../../ui/notice';
import { Timestamp } from '../../ui/timestamp';

/** Explains why a run without a process is waiting, and what can be done about it. */
export function WaitingNotice({ run, isAgent }: { run: WorkerRun; isAgent: boolean }) {
  const approval = run.approvals.find(({ status }) => status === 'pending');
  if (run.status === 'pending_approval' && approval) {
    // An agent's question is shown in the conversation, below its tool call.
    if (isAgent && belongsToStep(run, approval.id))
      return <QuestionNotice title={approval.title} approvalId={approval.id} />;
    return <PendingApproval run={run} approvalId={approval.id} />;
  }
  const reason = renderWaitingReason(run);
  return reason && <Notice tone="info">{reason}</Notice>;
}

function renderWaitingReason({ waiting_for: waiting, queue_position: queuePosition }: WorkerRun): ReactNode {
  if (waiting?.run_id) {
    return (
      <>
        Waiting for <Link to={workerRunPath(waiting.run_id)}>another run</Link> to finish.
      </>
    );
  }
  if (waiting?.until) {
    return (
      <>
        {waiting.kind === 'retry' ? 'Retrying' : 'Sleeping. Resumes'} <Timestamp at={Date.parse(waiting.until)} />.
      </>
    );
  }
  return queuePosition !== null && `Position ${queuePosition} in the queue.`;
}

const belongsToStep = ({ steps }: WorkerRun, approvalId: string): boolean =>
  steps.some(({ approval_id: id }) => id === approvalId);

function QuestionNotice({ title, approvalId }: { title: string; approvalId: string }) {
  function scrollToQuestion() {
    const question = document.getElementById(getQuestionElementId(approvalId));
    question?.scrollIntoView({ block: 'center' });
    question?.querySelector<HTMLElement>('input, textarea, button')?.focus({ preventScroll: true });
  }
  return (
    <Notice
      tone="info"
      title="The agent is waiting for a response"
      action={
        <Button variant="default" onClick={scrollToQuestion}>
          View question
        </Button>
      }
    >
      {title}
    </Notice>
  );
}
