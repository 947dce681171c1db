import { Box, Group, Skeleton, Stack, Text } from '@mantine/core';
import { type ComponentProps, lazy, type Ref, Suspense } from 'react';
import { Link } from 'react-router';
import { ApprovalRequestContent } from '../../approvals/approval-request-content';
import { ApprovalStatusChip } from '../../approvals/approval-status';
import { CallsDecisionForm } from '../../approvals/calls-decision-form';
import { decideApproval } from '../../approvals/decide-approval';
import { DecisionByline } from '../../approvals/decision-byline';
import { type Decision, DecisionForm, type DecisionFormHandle, type Verdict } from '../../approvals/decision-form';
import { ToolCallList } from '../../approvals/tool-call-list';
import { CANNOT_DECIDE_MESSAGE } from '../../candidates/candidate-decision';
import { type Approval, hasErrorStatus } from '../../shell/api';
import { workerPath, workerRunPath } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useWorkspace } from '../../shell/use-me';
import { CopyableCode } from '../../ui/copyable-code';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { useApproval } from './approval-queries';
import styles from './approvals-page.module.css';

/** Most approvals are of runs. */
const ProposedVersion = lazy(() => import('./proposed-version'));

interface ApprovalPaneProps {
  ref: Ref<DecisionFormHandle>;
  approval: Approval;
  onDecided: (approval: Approval, verdict: Verdict) => Promise<void>;
  /** Called when another person has decided first, or the approval has expired. */
  onOutdated: () => Promise<void>;
}

/** Shows an approval with its data, and the decision form or the outcome. */
export function ApprovalPane({ ref, approval, onDecided, onOutdated }: ApprovalPaneProps) {
  const { email } = useSession();
  const workspace = useWorkspace();
  const { kind, candidate_id, worker_id, worker_name, run_id, requested_at, expires_at, status, review_url } = approval;
  const isPending = status === 'pending';

  async function decide(decision: Decision) {
    try {
      await decideApproval(approval.id, workspace?.id, decision);
    } catch (error) {
      if (hasErrorStatus(error, 409)) await onOutdated();
      throw error;
    }
    await onDecided(approval, decision.verdict);
  }

  const decisionProps = { ref, signature: `Deciding as ${email}.`, onDecide: decide };
  return (
    <Panel title={approval.title} aside={<ApprovalStatusChip status={status} />}>
      <Group component="p" gap="4px 16px" align="stretch" mb="lg" fz="sm" c="dimmed">
        <Link to={workerPath(worker_id)}>{worker_name}</Link>
        <Link to={workerRunPath(run_id)}>{kind === 'candidate' ? 'View failed run' : 'View run'}</Link>
        <span>
          requested <Timestamp at={Date.parse(requested_at)} />
        </span>
        {isPending && (
          <span>
            expires <Timestamp at={Date.parse(expires_at)} />
          </span>
        )}
      </Group>
      {candidate_id !== null ? (
        <Suspense fallback={<Skeleton height={200} />}>
          <ProposedVersion approval={approval} candidateId={candidate_id} />
        </Suspense>
      ) : (
        !approval.calls && <ApprovalRequestContent message={approval.message} data={approval.data} />
      )}
      <Box mt="lg" pt="lg" maw="36rem" style={{ borderTop: '1px solid var(--line)' }}>
        {!isPending ? (
          <ApprovalOutcome approval={approval} />
        ) : approval.permissions.decide ? (
          <>
            {approval.calls ? (
              <ToolCallsDecision {...decisionProps} approval={approval} calls={approval.calls} />
            ) : (
              <DecisionForm {...decisionProps} form={approval.form} asksName={false} />
            )}
            {review_url && (
              <Box component="details" className={styles.link} mt="md" fz="sm">
                <summary>Send to an approver without an account</summary>
                <p className="caption">
                  Anyone with this link can approve or reject the request. It expires once a decision is made.
                </p>
                <CopyableCode label="Review link" code={review_url} />
              </Box>
            )}
          </>
        ) : (
          <>
            {approval.calls && <ToolCallList calls={approval.calls} />}
            <p className="caption">
              {kind === 'candidate'
                ? CANNOT_DECIDE_MESSAGE
                : 'You can’t approve or reject this request. Either you started the run and the worker requires a different approver, or your role is read-only.'}
            </p>
          </>
        )}
      </Box>
    </Panel>
  );
}

type ToolCallsDecisionProps = { approval: Approval } & Omit<
  ComponentProps<typeof CallsDecisionForm>,
  'canCorrect' | 'hasNameField'
>;

/** The list has no schemas: the approval is read by its id. */
function ToolCallsDecision({ approval, calls, ...form }: ToolCallsDecisionProps) {
  const { data, isLoading } = useApproval(approval.id);
  if (isLoading) return <Skeleton height={200} />;
  return <CallsDecisionForm {...form} calls={data?.calls ?? calls} canCorrect hasNameField={false} />;
}

const OUTCOME_DESCRIPTIONS = {
  run: { approved: 'The run continued.', not: 'The run ended.' },
  candidate: {
    approved: 'The candidate became the current version.',
    not: 'The candidate was dropped. The worker is unchanged.',
  },
};

function ApprovalOutcome({ approval }: { approval: Approval }) {
  const { kind, reason, answer, status } = approval;
  return (
    <>
      <Text className="wrap-anywhere" fw={640}>
        <DecisionByline approval={approval} />
      </Text>
      <p className="caption">
        {OUTCOME_DESCRIPTIONS[kind][status === 'approved' ? 'approved' : 'not']}
        {reason && ` Reason: ${reason}`}
      </p>
      {approval.calls && <ToolCallList calls={approval.calls} />}
      {answer !== null && answer !== undefined && (
        <Stack component="section" gap="xs" mt="md" aria-label="Form responses">
          <h3>Form responses</h3>
          <ApprovalRequestContent message={null} data={answer} />
        </Stack>
      )}
    </>
  );
}
