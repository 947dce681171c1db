import { Skeleton, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { decideApproval } from '../approvals/decide-approval';
import { DecidedBy } from '../approvals/decided-by';
import { type Decision, DecisionForm } from '../approvals/decision-form';
import { useSession } from '../shell/session';
import { toast } from '../shell/toasts';
import { useWorkspace } from '../shell/use-me';
import { FailedToLoad } from '../ui/notice';
import content from '../ui/panel-content.module.css';
import { refreshAfterDecision, useCandidateApproval } from './candidate-queries';

/** To whoever may not decide about a candidate. */
export const DECIDED_BY_OTHERS =
  'Somebody else decides this: either you asked for the repair and its worker wants another person, or you may not change the worker.';

/** Approves or rejects a repair's candidate where its evidence is; or says who did. */
export function CandidateDecision({ candidateId }: { candidateId: string }) {
  const { email } = useSession();
  const workspaceId = useWorkspace()?.id;
  const queryClient = useQueryClient();
  const { data: approval, error, refetch } = useCandidateApproval(candidateId);

  if (error) return <FailedToLoad what="The approval" error={error} retry={refetch} />;
  if (approval === undefined) return <Skeleton height={180} />;
  if (approval === null) return <p className={content.about}>Nobody is asked to decide about it yet.</p>;
  if (approval.status !== 'pending') {
    return (
      <div>
        <Text className="wrap-anywhere" fw={640}>
          <DecidedBy approval={approval} />
        </Text>
        {approval.reason && <p className={content.about}>Reason: {approval.reason}</p>}
      </div>
    );
  }
  if (!approval.permissions.decide) {
    return <p className={content.about}>{DECIDED_BY_OTHERS}</p>;
  }

  async function decide(decision: Decision) {
    if (!approval) return;
    try {
      await decideApproval(approval.id, workspaceId, decision);
      toast(decision.verdict === 'approve' ? 'Approved: it is the current version' : 'Rejected: nothing changes');
    } finally {
      // Also where somebody else was quicker.
      await refreshAfterDecision(queryClient, workspaceId);
    }
  }
  return <DecisionForm form={approval.form} asksName={false} signature={`You decide as ${email}.`} onDecide={decide} />;
}
