import { Skeleton, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { decideApproval } from '../approvals/decide-approval';
import { DecisionByline } from '../approvals/decision-byline';
import { type Decision, DecisionForm } from '../approvals/decision-form';
import { useSession } from '../shell/session';
import { toast } from '../shell/toasts';
import { useWorkspace } from '../shell/use-me';
import { LoadErrorNotice } from '../ui/notice';
import { invalidateAfterDecision, useCandidateApproval } from './candidate-queries';

/** Shown to members who cannot decide about a candidate. */
export const CANNOT_DECIDE_MESSAGE =
  'You can’t approve or reject this candidate. Either you requested the repair and the worker requires a different approver, or you don’t have permission to edit the worker.';

/** Approves or rejects a repair's candidate beside its evidence; or shows who did. */
export function CandidateDecision({ candidateId }: { candidateId: string }) {
  const { email } = useSession();
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const { data: approval, error, refetch } = useCandidateApproval(candidateId);

  if (error) return <LoadErrorNotice what="The approval" error={error} retry={refetch} />;
  if (approval === undefined) return <Skeleton height={180} />;
  if (approval === null) return <p className="caption">No approval has been requested yet.</p>;
  if (approval.status !== 'pending') {
    return (
      <div>
        <Text className="wrap-anywhere" fw={640}>
          <DecisionByline approval={approval} />
        </Text>
        {approval.reason && <p className="caption">Reason: {approval.reason}</p>}
      </div>
    );
  }
  if (!approval.permissions.decide) {
    return <p className="caption">{CANNOT_DECIDE_MESSAGE}</p>;
  }

  async function decide(decision: Decision) {
    if (!approval) return;
    try {
      await decideApproval(approval.id, workspaceId, decision);
      toast(
        decision.verdict === 'approve'
          ? 'Candidate approved. It’s now the current version.'
          : 'Candidate rejected. The worker is unchanged.',
      );
    } finally {
      // Also where another approver was faster.
      await invalidateAfterDecision(queryClient, workspaceId);
    }
  }
  return <DecisionForm form={approval.form} asksName={false} signature={`Deciding as ${email}.`} onDecide={decide} />;
}
