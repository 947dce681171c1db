import { Skeleton, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, type WorkerRun } from '../shell/api';
import { useSession } from '../shell/session';
import { LoadErrorNotice } from '../ui/notice';
import { Panel } from '../ui/panel';
import { Timestamp } from '../ui/timestamp';
import { ApprovalRequestContent } from './approval-request-content';
import { CallsDecisionForm } from './calls-decision-form';
import { decideApproval } from './decide-approval';
import { type Decision, DecisionForm } from './decision-form';
import { ToolCallList } from './tool-call-list';

/** Shows the pending approval of the run with its decision form. */
export function PendingApproval({ run, approvalId }: { run: WorkerRun; approvalId: string }) {
  const { email } = useSession();
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: ['approvals', run.workspace_id, approvalId],
    queryFn: () => api.worker.GET('/api/approvals/{approval_id}', { params: { path: { approval_id: approvalId } } }),
  });

  async function decide(decision: Decision) {
    try {
      await decideApproval(approvalId, run.workspace_id, decision);
    } finally {
      // Also where another approver was faster.
      for (const noun of ['approvals', 'runs']) {
        await queryClient.invalidateQueries({ queryKey: [noun, run.workspace_id] });
      }
    }
  }

  if (error) return <LoadErrorNotice what="The approval" error={error} retry={refetch} />;
  if (!data) return <Skeleton height={220} />;
  return (
    <Panel title={data.title}>
      <Stack gap="lg">
        <p className="caption">
          Waiting for approval. Requested <Timestamp at={Date.parse(data.requested_at)} />, expires{' '}
          <Timestamp at={Date.parse(data.expires_at)} />.
        </p>
        {!data.calls && <ApprovalRequestContent message={data.message} data={data.data} />}
        {data.calls && !data.permissions.decide && <ToolCallList calls={data.calls} />}
        {data.permissions.decide && data.calls ? (
          <CallsDecisionForm
            calls={data.calls}
            canCorrect
            hasNameField={false}
            signature={`Deciding as ${email}.`}
            onDecide={decide}
          />
        ) : data.permissions.decide ? (
          <DecisionForm form={data.form} asksName={false} signature={`Deciding as ${email}.`} onDecide={decide} />
        ) : (
          <p className="caption">
            You can’t approve or reject this request. Either you started the run and the worker requires a different
            approver, or your role is read-only.
          </p>
        )}
      </Stack>
    </Panel>
  );
}
