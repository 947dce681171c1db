import { Skeleton } from '@mantine/core';
import { lazy, type Ref, Suspense } from 'react';
import { Link } from 'react-router';
import { ApprovalStatusChip } from '../../approvals/approval-status';
import { Asked } from '../../approvals/asked';
import { decideApproval } from '../../approvals/decide-approval';
import { DecidedBy } from '../../approvals/decided-by';
import { type Decision, DecisionForm, type DecisionSteps, type Verdict } from '../../approvals/decision-form';
import { DECIDED_BY_OTHERS } from '../../candidates/candidate-decision';
import { type Approval, isStatus } from '../../shell/api';
import { workerPath, workerRunPath } from '../../shell/paths';
import { useSession } from '../../shell/session';
import { useWorkspace } from '../../shell/use-me';
import { CodeToCopy } from '../../ui/code-to-copy';
import { Panel } from '../../ui/panel';
import content from '../../ui/panel-content.module.css';
import { Timestamp } from '../../ui/timestamp';
import styles from './approvals-page.module.css';

/** Most approvals are of runs. */
const ProposedVersion = lazy(() => import('./proposed-version'));

interface OpenApprovalProps {
  ref: Ref<DecisionSteps>;
  approval: Approval;
  onDecided: (approval: Approval, verdict: Verdict) => Promise<void>;
  /** Somebody else was faster, or its time is over. */
  onOvertaken: () => Promise<void>;
}

/** Everything to look at, and the decision, or what became of it. */
export function OpenApproval({ ref, approval, onDecided, onOvertaken }: OpenApprovalProps) {
  const { email } = useSession();
  const workspace = useWorkspace();
  const { kind, candidate_id, worker_id, worker_name, run_id, requested_at, expires_at, status, review_url } = approval;
  const isPending = status === 'pending';

  async function decide(decision: Decision) {
    try {
      await decideApproval(approval.id, workspace?.id, decision);
    } catch (error) {
      if (isStatus(error, 409)) await onOvertaken();
      throw error;
    }
    await onDecided(approval, decision.verdict);
  }

  return (
    <Panel title={approval.title} aside={<ApprovalStatusChip status={status} />}>
      <p className={styles.facts}>
        <Link to={workerPath(worker_id)}>{worker_name}</Link>
        <Link to={workerRunPath(run_id)}>{kind === 'candidate' ? 'See the failed run' : 'See the run'}</Link>
        <span>
          asked <Timestamp at={Date.parse(requested_at)} />
        </span>
        {isPending && (
          <span>
            closes <Timestamp at={Date.parse(expires_at)} />
          </span>
        )}
      </p>
      {candidate_id !== null ? (
        <Suspense fallback={<Skeleton height={200} />}>
          <ProposedVersion approval={approval} candidateId={candidate_id} />
        </Suspense>
      ) : (
        <Asked message={approval.message} data={approval.data} />
      )}
      <div className={styles.decision}>
        {!isPending ? (
          <Outcome approval={approval} />
        ) : approval.permissions.decide ? (
          <>
            <DecisionForm
              ref={ref}
              form={approval.form}
              asksName={false}
              signature={`You decide as ${email}.`}
              onDecide={decide}
            />
            {review_url && (
              <details className={styles.link}>
                <summary>Let somebody without an account decide</summary>
                <p className={content.about}>Whoever holds this link decides. It ends with the decision.</p>
                <CodeToCopy label="Review link" code={review_url} />
              </details>
            )}
          </>
        ) : (
          <p className={content.about}>
            {kind === 'candidate'
              ? DECIDED_BY_OTHERS
              : 'Somebody else decides this: either you started the run and its worker wants another person, or your role here only reads.'}
          </p>
        )}
      </div>
    </Panel>
  );
}

const AFTERWARDS = {
  run: { approved: 'The run went on.', not: 'The run ended.' },
  candidate: { approved: 'It became the current version.', not: 'It was dropped; the worker stays as it was.' },
};

function Outcome({ approval }: { approval: Approval }) {
  const { kind, reason, answer, status } = approval;
  return (
    <>
      <p className={content.what}>
        <DecidedBy approval={approval} />
      </p>
      <p className={content.about}>
        {AFTERWARDS[kind][status === 'approved' ? 'approved' : 'not']}
        {reason && ` Reason: ${reason}`}
      </p>
      {answer !== null && answer !== undefined && (
        <section className={styles.answer} aria-label="Filled in">
          <h3>Filled in</h3>
          <Asked message={null} data={answer} />
        </section>
      )}
    </>
  );
}
