import { Box, Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useNavigate } from 'react-router';
import { invalidateAfterDecision } from '../../candidates/candidate-queries';
import { countSettled } from '../../candidates/verdict';
import { api, type CandidateDetail, type CandidateSummary, type Worker } from '../../shell/api';
import { workerPath } from '../../shell/paths';
import { toast } from '../../shell/toasts';
import { useWorkspace } from '../../shell/use-me';
import { ConfirmButton, toAction } from '../../ui/confirm-button';
import { ErrorNotice, type Explanation } from '../../ui/notice';
import { clearPromotedDraft } from './promoted-draft';

interface CandidateActionsProps {
  worker: Worker;
  candidate: CandidateDetail;
}

/** Promotes or drops a candidate, and approves its code where an agent wrote it. */
export function CandidateActions({ worker, candidate }: CandidateActionsProps) {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  const navigate = useNavigate();
  const params = { path: { worker_id: worker.id, candidate_id: candidate.id } };
  const invalidateCandidate = () => invalidateAfterDecision(queryClient, workspaceId);
  const promote = useMutation({
    mutationFn: (forceButton: boolean) =>
      api.worker.POST('/api/workers/{worker_id}/candidates/{candidate_id}/promote', {
        params,
        body: { force: forceButton },
      }),
    onSuccess: async () => {
      clearPromotedDraft(queryClient, workspaceId, candidate);
      toast(`Candidate promoted to the current version of ${worker.name}`);
      await invalidateCandidate();
      navigate(workerPath(worker.id, 'workerVersions'));
    },
    onError: invalidateCandidate,
  });
  const drop = useMutation({
    mutationFn: () => api.worker.POST('/api/workers/{worker_id}/candidates/{candidate_id}/drop', { params }),
    onSuccess: () => toast('Candidate dropped'),
    onSettled: invalidateCandidate,
  });
  const approve = useMutation({
    mutationFn: () => api.worker.POST('/api/workers/{worker_id}/candidates/{candidate_id}/approve', { params }),
    onSuccess: () => toast('Rehearsals started'),
    onSettled: invalidateCandidate,
  });
  const { permissions, summary, version_approval: approval } = candidate;
  const broken = summary.broken;
  return (
    <>
      {permissions.approve && approval?.status === 'waiting' && (
        <ConfirmButton label="Approve candidate code" question="I’ve reviewed the code" {...toAction(approve)}>
          Approve code
        </ConfirmButton>
      )}
      {permissions.drop && (
        <ConfirmButton label="Drop candidate" question="Drop now" {...toAction(drop)}>
          Drop
        </ConfirmButton>
      )}
      {permissions.promote &&
        (broken > 0 ? (
          <ConfirmButton
            label="Promote candidate"
            question={broken === 1 ? 'Promote anyway (breaks 1 run)' : `Promote anyway (breaks ${broken} runs)`}
            {...toAction(promote, false)}
          >
            Promote
          </ConfirmButton>
        ) : (
          <Button loading={promote.isPending} onClick={() => promote.mutate(false)}>
            Promote
          </Button>
        ))}
      <Box className="hidden-empty" style={{ flexBasis: '100%' }}>
        <ErrorNotice
          title="Candidate not promoted"
          error={promote.error}
          explanations={explainRefusals(
            summary,
            <Button variant="default" loading={promote.isPending} onClick={() => promote.mutate(true)}>
              Promote anyway
            </Button>,
          )}
        />
        <ErrorNotice title="Candidate not dropped" error={drop.error} />
        <ErrorNotice title="Version not approved" error={approve.error} />
      </Box>
    </>
  );
}

/** @param forceButton promotes it all the same */
function explainRefusals(summary: CandidateSummary, forceButton: ReactNode): Record<string, Explanation> {
  const open = summary.total - countSettled(summary);
  return {
    worker_changed: {
      title: 'Not promoted: the worker has changed',
      children:
        'A newer version was saved after this candidate was created. Reapply your change to the newer version and rehearse it again.',
    },
    rehearsing: {
      title: 'Not promoted: rehearsals are still running',
      action: forceButton,
      children: `${open === 1 ? '1 rehearsal is' : `${open} rehearsals are`} still running. Wait for the results, or promote without them.`,
    },
    nothing_rehearsed: {
      title: 'Not promoted: nothing was rehearsed',
      action: forceButton,
      children: 'It’s unknown how past runs would have turned out with this candidate.',
    },
    already_decided: { children: 'Another member already promoted or dropped this candidate.' },
  };
}
