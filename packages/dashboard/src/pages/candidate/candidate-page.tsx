import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Link, useParams } from 'react-router';
import { CandidateChanges } from '../../candidates/candidate-changes';
import { CandidateStatusChip, OutcomeCountChips } from '../../candidates/candidate-chips';
import { CandidateDecision } from '../../candidates/candidate-decision';
import { CandidateEvidence } from '../../candidates/candidate-evidence';
import { useCandidate, useCandidateApproval } from '../../candidates/candidate-queries';
import { VerdictLine } from '../../candidates/verdict-line';
import { type CandidateDetail, hasErrorStatus, type Worker } from '../../shell/api';
import { NotFound } from '../../shell/frame/not-found';
import { workerPath, workerRunPath } from '../../shell/paths';
import { useTitle } from '../../shell/use-title';
import { LoadingPage } from '../../ui/loading-page';
import { LoadErrorNotice, Notice } from '../../ui/notice';
import { PageHeader } from '../../ui/page-header';
import { Panel } from '../../ui/panel';
import { Timestamp } from '../../ui/timestamp';
import { useWorker } from '../../workers/use-worker';
import { CandidateActions } from './candidate-actions';

/** Shows a candidate: its evidence, its changes, and the decision. */
export default function CandidatePage() {
  const { workerId = '', candidateId = '' } = useParams();
  const worker = useWorker(workerId);
  const candidate = useCandidate(workerId, candidateId);
  const above = worker.data
    ? [
        { to: workerPath(workerId), label: worker.data.name },
        { to: workerPath(workerId, 'workerVersions'), label: 'Versions' },
      ]
    : [];
  useTitle(candidate.data && getCandidateTitle(candidate.data), above);
  const error = candidate.error ?? worker.error;
  if (hasErrorStatus(error, 403, 404)) return <NotFound what="candidate" />;
  if (error && !candidate.data) return <LoadErrorNotice what="The candidate" error={error} retry={candidate.refetch} />;
  if (!candidate.data || !worker.data) return <LoadingPage what="the candidate" columns="minmax(0, 1fr)" />;
  return <LoadedCandidate key={candidateId} worker={worker.data} candidate={candidate.data} />;
}

const getCandidateTitle = ({ message }: Pick<CandidateDetail, 'message'>): string => message || 'Proposed version';

function LoadedCandidate({ worker, candidate }: { worker: Worker; candidate: CandidateDetail }) {
  const { status, cases, origin, base_sha: baseSha, created_at: createdAt, error, warnings } = candidate;
  const isOpen = status === 'rehearsing' || status === 'ready' || status === 'failed';
  const isOutdated = isOpen && baseSha !== worker.sha;
  return (
    <>
      <PageHeader
        title={getCandidateTitle(candidate)}
        about={
          <>
            <CandidateStatusChip status={status} />
            <span>
              {isOutdated
                ? 'Based on an earlier version of '
                : isOpen
                  ? `Based on version ${worker.version} of `
                  : 'Candidate for '}
              {worker.name}
            </span>
            <span>
              {origin === 'repair' ? 'Proposed by a repair' : `Proposed by ${candidate.created_by_label ?? 'a member'}`}{' '}
              <Timestamp at={Date.parse(createdAt)} />
            </span>
          </>
        }
        actions={origin === 'person' && isOpen && <CandidateActions worker={worker} candidate={candidate} />}
      />
      <Stack gap="lg">
        {isOutdated && (
          <Notice tone="error" title="The worker has changed">
            The worker’s current version is newer than this candidate’s base version, so the candidate can’t be
            promoted. Reapply the change to the current version and rehearse it again.
          </Notice>
        )}
        {isOpen && candidate.version_approval?.status === 'waiting' && (
          <Notice tone="error" title="This code is waiting for your approval">
            An agent wrote this code. Review and approve the changes below before the code is rehearsed with secrets,
            connections, network access or new packages.
          </Notice>
        )}
        {error && (
          <Notice tone="error" title="Rehearsals could not start">
            {error}
          </Notice>
        )}
        {warnings.map((warning) => (
          <Notice key={warning} tone="info">
            {warning}
          </Notice>
        ))}
        <VerdictLine candidate={candidate} level={2} />
        {!isOpen && <CandidateOutcome candidate={candidate} />}
        {cases.length > 0 && (
          <Panel title="Evidence" aside={<EvidenceSummary candidate={candidate} />}>
            <FailedRunLoader candidate={candidate}>
              {(runId) => <CandidateEvidence cases={cases} failedRunId={runId} />}
            </FailedRunLoader>
          </Panel>
        )}
        <Panel title="Changes">
          <CandidateChanges candidate={candidate} />
        </Panel>
        {origin === 'repair' && isOpen && (
          <Panel title="Decision" aside={<FailedRunLink candidateId={candidate.id} />}>
            <CandidateDecision candidateId={candidate.id} />
          </Panel>
        )}
      </Stack>
    </>
  );
}

/** Loads the failed run of a repair, which its approval names. */
function FailedRunLoader({
  candidate: { id, origin },
  children,
}: {
  candidate: CandidateDetail;
  children: (runId: string | undefined) => ReactNode;
}) {
  const approval = useCandidateApproval(id, origin === 'repair');
  if (origin === 'repair' && approval.isLoading) return <Skeleton height={160} />;
  return children(approval.data?.run_id);
}

/** Links to the failed run, where the repair is described. */
function FailedRunLink({ candidateId }: { candidateId: string }) {
  const { data: approval } = useCandidateApproval(candidateId);
  return approval ? <Link to={workerRunPath(approval.run_id)}>View failed run</Link> : null;
}

/** Left out for lack of space beside the heading; the table below has the same data. */
const EvidenceSummary = ({ candidate }: { candidate: CandidateDetail }) => (
  <span className="hidden-narrow">
    <OutcomeCountChips summary={candidate.summary} />
  </span>
);

function CandidateOutcome({ candidate }: { candidate: CandidateDetail }) {
  const { status, decided_at: at, decided_by_label: by } = candidate;
  return (
    <p className="caption">
      {status === 'promoted' ? 'Promoted' : 'Dropped'}
      {by ? ` by ${by}` : ' by Gantry'} {at && <Timestamp at={Date.parse(at)} />}
      {status === 'promoted' && '. The candidate became a new version of the worker.'}
    </p>
  );
}
