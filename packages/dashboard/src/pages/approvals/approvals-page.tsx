import { unwrap } from '@gantry/api-client';
import { Button, Skeleton } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { useSearchParams } from 'react-router';
import { ApprovalStatusChip } from '../../approvals/approval-status';
import { Asked } from '../../approvals/asked';
import { decideApproval } from '../../approvals/decide-approval';
import { type Decision, DecisionForm, type Verdict } from '../../approvals/decision-form';
import { type Approval, isStatus, workerApi } from '../../shell/api';
import { approvalIdIn } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useWorkspace } from '../../shell/use-me';
import { useTitle } from '../../shell/use-title';
import { FailedToLoad, Notice } from '../../ui/notice';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { Timestamp } from '../../ui/timestamp';
import styles from './approvals-page.module.css';

const SHOWN = 50;

/** The approvals that wait in this workspace, and those that were decided. */
export default function ApprovalsPage() {
  useTitle('Approvals');
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const key = ['approvals', workspace?.id];
  const pending = useApprovals([...key, 'pending'], workspace?.id, 'pending');
  const all = useApprovals([...key, 'all'], workspace?.id);
  const past = all.data?.filter(({ status }) => status !== 'pending');
  const [said, setSaid] = useState<string | null>(null);
  const news = useRef<HTMLDivElement>(null);
  // The form that had the focus is gone.
  useEffect(() => {
    if (said) news.current?.focus();
  }, [said]);

  async function decided(approval: Approval, verdict: Verdict) {
    await refresh();
    setSaid(`${verdict === 'approve' ? 'Approved' : 'Rejected'}: ${approval.title}`);
  }
  const refresh = () => queryClient.invalidateQueries({ queryKey: key });

  return (
    <>
      <h1>Approvals</h1>
      <p className={styles.lead}>
        Runs that wait for a person, in {workspace?.name ?? 'this workspace'}. A decision counts once: the run goes on,
        or ends.
      </p>
      <div className={styles.panels}>
        <div ref={news} className={styles.news} role="status" tabIndex={-1}>
          {said && <Notice tone="info">{said}</Notice>}
        </div>
        <Panel title="Waiting">
          {pending.isError ? (
            <FailedToLoad what="What is waiting" error={pending.error} retry={pending.refetch} />
          ) : !pending.data ? (
            <Skeleton height={120} />
          ) : pending.data.length === 0 ? (
            <p className={content.about}>Nothing waits for a decision.</p>
          ) : (
            <WaitingList
              approvals={pending.data}
              workspaceId={workspace?.id}
              onDecided={decided}
              onOvertaken={refresh}
            />
          )}
        </Panel>
        {past && past.length > 0 && (
          <Panel title="Decided">
            <ul className={styles.list}>
              {past.map((approval) => (
                <li key={approval.id}>
                  <Row approval={approval} about={<DecidedBy approval={approval} />}>
                    <ApprovalStatusChip status={approval.status} />
                  </Row>
                </li>
              ))}
            </ul>
          </Panel>
        )}
      </div>
    </>
  );
}

const useApprovals = (queryKey: unknown[], workspaceId: string | undefined, status?: 'pending') =>
  useQuery({
    queryKey,
    enabled: workspaceId !== undefined,
    queryFn: async () =>
      unwrap(
        (await workerApi()).GET('/api/approvals', { params: { query: { limit: SHOWN, ...(status && { status }) } } }),
      ),
  });

interface WaitingListProps {
  approvals: Approval[];
  workspaceId: string | undefined;
  onDecided: (approval: Approval, verdict: Verdict) => Promise<void>;
  onOvertaken: () => Promise<void>;
}

/** One is open at a time: its form stands right below it. */
function WaitingList({ approvals, workspaceId, onDecided, onOvertaken }: WaitingListProps) {
  const { email } = useSession();
  const [search] = useSearchParams();
  const [openId, setOpenId] = useState(approvalIdIn(search));

  async function decide(approval: Approval, decision: Decision) {
    try {
      await decideApproval(approval.id, workspaceId, decision);
      await onDecided(approval, decision.verdict);
    } catch (error) {
      if (isStatus(error, 409)) await onOvertaken();
      throw error;
    }
  }

  return (
    <ul className={styles.list}>
      {approvals.map((approval) => {
        const isOpen = approval.id === openId;
        return (
          <li key={approval.id}>
            <Row
              approval={approval}
              about={
                <>
                  asked <Timestamp at={Date.parse(approval.requested_at)} />, closes{' '}
                  <Timestamp at={Date.parse(approval.expires_at)} />
                </>
              }
            >
              <Button
                variant="default"
                aria-expanded={isOpen}
                aria-label={`${isOpen ? 'Close' : 'Look at'} ${approval.title}`}
                onClick={() => setOpenId(isOpen ? null : approval.id)}
              >
                {isOpen ? 'Close' : 'Look'}
              </Button>
            </Row>
            {isOpen && (
              <div className={styles.open}>
                <Asked message={approval.message} data={approval.data} />
                {approval.permissions.decide ? (
                  <DecisionForm
                    form={approval.form}
                    asksName={false}
                    signature={`You decide as ${email}.`}
                    onDecide={(decision) => decide(approval, decision)}
                  />
                ) : (
                  <p className={content.about}>
                    Somebody else decides this: either you started the run and its worker wants another person, or your
                    role here only reads.
                  </p>
                )}
              </div>
            )}
          </li>
        );
      })}
    </ul>
  );
}

function Row({ approval, about, children }: { approval: Approval; about: ReactNode; children: ReactNode }) {
  return (
    <div className={styles.row}>
      <div>
        <p className={content.what}>{approval.title}</p>
        <p className={content.about}>
          {approval.worker_name} · {about}
        </p>
      </div>
      {children}
    </div>
  );
}

function DecidedBy({ approval }: { approval: Approval }) {
  const { decided_by_label, decided_by, decided_at, reason } = approval;
  return (
    <>
      {decided_by && `by ${decided_by_label ?? decided_by}, `}
      {decided_at && <Timestamp at={Date.parse(decided_at)} />}
      {reason && `: ${reason}`}
    </>
  );
}
