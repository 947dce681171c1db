import { Box, Group, Skeleton, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import { ApprovalRequestContent } from '../../approvals/approval-request-content';
import { ApprovalStatusChip } from '../../approvals/approval-status';
import { CallsDecisionForm } from '../../approvals/calls-decision-form';
import { decideApproval } from '../../approvals/decide-approval';
import { type Decision, DecisionForm } from '../../approvals/decision-form';
import { ToolCallList } from '../../approvals/tool-call-list';
import { type Approval, api, hasErrorStatus, type Review } from '../../shell/api';
import { approvalPath } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import { Columns } from '../../ui/columns';
import { EmptyState } from '../../ui/empty-state';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { ReviewOutcome } from './review-outcome';

/**
 * Serves a review link. A signed-in member who can see the worker decides under their own name, a visitor by the
 * link.
 */
export default function ReviewPage() {
  const { token = '' } = useParams();
  const { status } = useSession();
  const review = useQuery({
    queryKey: ['review', token],
    enabled: status !== 'unknown',
    queryFn: () => api.visitor.GET('/api/reviews/{token}', { params: { path: { token } } }),
  });
  useTitle(review.data?.title ?? 'Review');
  if (hasErrorStatus(review.error, 404)) return <InvalidLinkNotice />;
  if (review.error) return <LoadErrorNotice what="The review" error={review.error} retry={review.refetch} />;
  if (!review.data) return <Skeleton height={240} />;
  return <LoadedReview key={token} token={token} review={review.data} onChanged={review.refetch} />;
}

function InvalidLinkNotice() {
  return (
    <EmptyState title="This link isn’t valid" level={1}>
      <p>It may have expired or been replaced by a newer link, or it may be incomplete.</p>
      <p>Ask the sender for a new link.</p>
    </EmptyState>
  );
}

interface LoadedReviewProps {
  token: string;
  review: Review;
  onChanged: () => Promise<unknown>;
}

function LoadedReview({ token, review, onChanged }: LoadedReviewProps) {
  const { status: sessionStatus, email } = useSession();
  const [hasDecided, setDecided] = useState(false);
  const queryClient = useQueryClient();
  const memberApproval = useQuery({
    queryKey: ['approval', review.approval_id, review.workspace_id],
    enabled: sessionStatus === 'signed-in',
    queryFn: () => findMemberApproval(review),
  });
  const isOpen = review.status === 'pending';
  const canDecide = isOpen && (!memberApproval.data || memberApproval.data.permissions.decide);
  /** Tool calls are decided where they are listed. */
  const decidesCalls = review.calls !== null && canDecide;
  const signature = memberApproval.data
    ? `Deciding as ${email}.`
    : 'You’re responding through a one-time link. Anyone with the link can use it.';

  async function decide(decision: Decision) {
    try {
      if (memberApproval.data) await decideApproval(memberApproval.data.id, review.workspace_id, decision);
      else await decideByLink(token, decision);
      setDecided(true);
      void queryClient.invalidateQueries({ queryKey: ['approvals'] });
      await onChanged();
    } catch (error) {
      // Another person has decided first, or it has expired: the refetched page shows the outcome.
      if (hasErrorStatus(error, 404, 409)) await onChanged();
      throw error;
    }
  }

  return (
    <>
      <Stack gap="xs" align="flex-start" mb="lg">
        <Group component="p" className="wrap-anywhere" gap="4px 12px" fz="sm" c="dimmed">
          Request from {review.worker_name}
        </Group>
        <Box component="h1" maw="40ch">
          {review.title}
        </Box>
        <Group component="p" className="wrap-anywhere" gap="4px 12px" fz="sm" c="dimmed">
          <ApprovalStatusChip status={review.status} />
          <span>
            requested <Timestamp at={Date.parse(review.requested_at)} />
          </span>
          {review.started_by && <span>started by {review.started_by}</span>}
          {isOpen && (
            <span>
              expires <Timestamp at={Date.parse(review.expires_at)} />
            </span>
          )}
        </Group>
      </Stack>
      <Columns widths={decidesCalls ? 'minmax(0, 48rem)' : 'minmax(0, 1fr) minmax(18rem, 24rem)'}>
        {!decidesCalls && (
          <Panel title="Request">
            {review.calls ? (
              <ToolCallList calls={review.calls} />
            ) : (
              <ApprovalRequestContent message={review.message} data={review.data} />
            )}
          </Panel>
        )}
        <Panel title={isOpen ? 'Your decision' : 'Decision'}>
          {!isOpen ? (
            <ReviewOutcome {...review} isNew={hasDecided} />
          ) : memberApproval.isLoading ? (
            <Skeleton height={160} />
          ) : !canDecide ? (
            <Notice tone="info" title="You can’t approve or reject this request">
              {`You’re signed in as ${email}. Either you started this run and the worker requires a different approver, or your role is read-only.`}
            </Notice>
          ) : review.calls ? (
            <>
              <CallsDecisionForm
                calls={memberApproval.data?.calls ?? review.calls}
                canCorrect={Boolean(memberApproval.data)}
                hasNameField={!memberApproval.data}
                signature={signature}
                onDecide={decide}
              />
              {!memberApproval.data && (
                <Group component="p" className="wrap-anywhere" gap="4px 12px" fz="sm" c="dimmed">
                  <Link to={approvalPath(review.approval_id)}>Sign in to edit the arguments</Link>
                </Group>
              )}
            </>
          ) : (
            <DecisionForm form={review.form} asksName={!memberApproval.data} signature={signature} onDecide={decide} />
          )}
        </Panel>
      </Columns>
    </>
  );
}

/** Finds the approval as the signed-in member sees it; null without membership or access. */
async function findMemberApproval({ approval_id, workspace_id }: Review): Promise<Approval | null> {
  const options = { params: { path: { approval_id } }, headers: { 'x-svc-workspace': workspace_id } };
  try {
    return await api.worker.GET('/api/approvals/{approval_id}', options);
  } catch (error) {
    if (hasErrorStatus(error, 401, 403, 404)) return null;
    throw error;
  }
}

async function decideByLink(token: string, { verdict, calls, ...body }: Decision): Promise<void> {
  const options = { params: { path: { token } }, body };
  await (verdict === 'approve'
    ? api.visitor.POST('/api/reviews/{token}/approve', { ...options, body: { ...body, ...(calls && { calls }) } })
    : api.visitor.POST('/api/reviews/{token}/reject', options));
}
