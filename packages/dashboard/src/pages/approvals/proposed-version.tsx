import { Group, Skeleton, Stack } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { Link } from 'react-router';
import { OutcomeCountChips } from '../../candidates/candidate-chips';
import { CandidateEvidence } from '../../candidates/candidate-evidence';
import { useCandidate } from '../../candidates/candidate-queries';
import { VerdictLine } from '../../candidates/verdict-line';
import type { Approval } from '../../shell/api';
import { candidatePath } from '../../shell/paths';
import { LoadErrorNotice } from '../../ui/notice';

const AgentText = lazy(() => import('../../conversation/agent-text'));

/** Shows the candidate of an approval: the model's explanation, and the evidence of rehearsals. */
export default function ProposedVersion({ approval, candidateId }: { approval: Approval; candidateId: string }) {
  const { worker_id: workerId, run_id: runId, message } = approval;
  const { data: candidate, error, refetch } = useCandidate(workerId, candidateId);
  return (
    <Stack gap="md">
      {error && !candidate ? (
        <LoadErrorNotice what="The evidence" error={error} retry={refetch} />
      ) : !candidate ? (
        <Skeleton height={160} />
      ) : (
        <>
          <VerdictLine candidate={candidate} level={3} />
          <Group component="p" gap="8px 16px" justify="space-between" fz="sm">
            <OutcomeCountChips summary={candidate.summary} />
            <Link to={candidatePath(workerId, candidateId)}>View change</Link>
          </Group>
        </>
      )}
      {message && (
        <Suspense fallback={<Skeleton height={60} />}>
          <AgentText text={message} />
        </Suspense>
      )}
      {candidate && candidate.cases.length > 0 && <CandidateEvidence cases={candidate.cases} failedRunId={runId} />}
    </Stack>
  );
}
