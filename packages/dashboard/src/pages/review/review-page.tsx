import { unwrap } from '@gantry/sdk';
import { Group, Skeleton, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useParams } from 'react-router';
import { ApprovalStatusChip } from '../../approvals/approval-status';
import { Asked } from '../../approvals/asked';
import { CallsDecisionForm } from '../../approvals/calls-decision-form';
import { decideApproval } from '../../approvals/decide-approval';
import { type Decision, DecisionForm } from '../../approvals/decision-form';
import { ListedCalls } from '../../approvals/listed-calls';
import { type Approval, isStatus, type Review, visitorApi, workerApi } from '../../shell/api';
import { approvalPath } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useTitle } from '../../shell/use-title';
import { Empty } from '../../ui/empty';
import { FailedToLoad, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { Outcome } from './outcome';
import styles from './review-page.module.css';

/**
 * Opened by a review link. Somebody who is signed in and sees the worker decides under their own name, anybody else by
 * the link.
 */
export default function ReviewPage() {
  const { token = '' } = useParams();
  const { status } = useSession();
  const review = useQuery({
    queryKey: ['review', token],
    enabled: status !== 'unknown',
    queryFn: async () => unwrap((await visitorApi()).GET('/api/reviews/{token}', { params: { path: { token } } })),
  });
  useTitle(review.data?.title ?? 'Review');
  if (isStatus(review.error, 404)) return <NoSuchLink />;
  if (review.error) return <FailedToLoad what="The review" error={review.error} retry={review.refetch} />;
  if (!review.data) return <Skeleton height={240} />;
  return <Asking key={token} token={token} review={review.data} onChanged={review.refetch} />;
}

function NoSuchLink() {
  return (
    <Empty title="This link does not work" level={1}>
      <p>The time to decide may be over, or somebody made a newer link, or a part of the address is missing.</p>
      <p>Ask whoever sent it to you for another.</p>
    </Empty>
  );
}

interface AskingProps {
  token: string;
  review: Review;
  onChanged: () => Promise<unknown>;
}

function Asking({ token, review, onChanged }: AskingProps) {
  const { status: sessionStatus, email } = useSession();
  const [hasDecided, setDecided] = useState(false);
  const queryClient = useQueryClient();
  const own = useQuery({
    queryKey: ['approval', review.approval_id, review.workspace_id],
    enabled: sessionStatus === 'signed-in',
    queryFn: () => findOwn(review),
  });
  const isOpen = review.status === 'pending';
  const canDecide = isOpen && (!own.data || own.data.permissions.decide);
  /** They are decided where they are shown. */
  const isOfCalls = review.calls !== null && canDecide;
  const signature = own.data
    ? `You decide as ${email}.`
    : 'You decide with the link: whoever has it may do that, once.';

  async function decide(decision: Decision) {
    try {
      if (own.data) await decideApproval(own.data.id, review.workspace_id, decision);
      else await decideByLink(token, decision);
      setDecided(true);
      void queryClient.invalidateQueries({ queryKey: ['approvals'] });
      await onChanged();
    } catch (error) {
      // Somebody else was faster, or the time is over: the page shows what became of it.
      if (isStatus(error, 404, 409)) await onChanged();
      throw error;
    }
  }

  return (
    <>
      <Stack className={styles.head} gap="xs" align="flex-start" mb="lg">
        <Group component="p" className="wrap-anywhere" gap="4px 12px" fz="sm" c="dimmed">
          {review.worker_name} asks
        </Group>
        <h1>{review.title}</h1>
        <Group component="p" className="wrap-anywhere" gap="4px 12px" fz="sm" c="dimmed">
          <ApprovalStatusChip status={review.status} />
          <span>
            asked <Timestamp at={Date.parse(review.requested_at)} />
          </span>
          {review.started_by && <span>started by {review.started_by}</span>}
          {isOpen && (
            <span>
              closes <Timestamp at={Date.parse(review.expires_at)} />
            </span>
          )}
        </Group>
      </Stack>
      <div className={isOfCalls ? styles.calls : styles.work}>
        {!isOfCalls && (
          <Panel title="What it is about">
            {review.calls ? (
              <ListedCalls calls={review.calls} />
            ) : (
              <Asked message={review.message} data={review.data} />
            )}
          </Panel>
        )}
        <Panel title={isOpen ? 'Your decision' : 'What was decided'}>
          {!isOpen ? (
            <Outcome {...review} isNews={hasDecided} />
          ) : own.isLoading ? (
            <Skeleton height={160} />
          ) : !canDecide ? (
            <Notice tone="info" title="Somebody else decides this">
              {`You are signed in as ${email}. Either you started this run and its worker wants another person, or your role here only reads.`}
            </Notice>
          ) : review.calls ? (
            <>
              <CallsDecisionForm
                calls={own.data?.calls ?? review.calls}
                canCorrect={Boolean(own.data)}
                asksName={!own.data}
                signature={signature}
                onDecide={decide}
              />
              {!own.data && (
                <Group component="p" className="wrap-anywhere" gap="4px 12px" fz="sm" c="dimmed">
                  <Link to={approvalPath(review.approval_id)}>Sign in to correct the arguments</Link>
                </Group>
              )}
            </>
          ) : (
            <DecisionForm form={review.form} asksName={!own.data} signature={signature} onDecide={decide} />
          )}
        </Panel>
      </div>
    </>
  );
}

/** The same approval as the signed-in person sees it; null for one who is no member there or does not see it. */
async function findOwn({ approval_id, workspace_id }: Review): Promise<Approval | null> {
  const worker = await workerApi();
  const options = { params: { path: { approval_id } }, headers: { 'x-svc-workspace': workspace_id } };
  try {
    return await unwrap(worker.GET('/api/approvals/{approval_id}', options));
  } catch (error) {
    if (isStatus(error, 401, 403, 404)) return null;
    throw error;
  }
}

async function decideByLink(token: string, { verdict, calls, ...body }: Decision): Promise<void> {
  const visitor = await visitorApi();
  const options = { params: { path: { token } }, body };
  await unwrap(
    verdict === 'approve'
      ? visitor.POST('/api/reviews/{token}/approve', { ...options, body: { ...body, ...(calls && { calls }) } })
      : visitor.POST('/api/reviews/{token}/reject', options),
  );
}
