import type { QueryClient } from '@tanstack/react-query';
import { candidateFiles } from '../../candidates/candidate-queries';
import { changesBetween, type Files, withChanges } from '../../code/files';
import { readDraft, storeDraft } from '../../code/stored-draft';
import type { CandidateDetail } from '../../shell/api';
import { versionFiles } from '../../workers/version-files';

/** Deletes the draft that the candidate was made from, because it is a version now. */
export function forgetPromotedDraft(
  queryClient: QueryClient,
  workspaceId: string | undefined,
  { id, worker_id: workerId, base_sha: baseSha }: CandidateDetail,
): void {
  const key = `${workspaceId}.${workerId}`;
  const draft = readDraft(key);
  const base = queryClient.getQueryData<Files>(versionFiles(workspaceId, workerId, baseSha).queryKey);
  const promoted = queryClient.getQueryData<Files>(candidateFiles(workspaceId, workerId, id).queryKey);
  if (draft?.baseSha !== baseSha || !base || !promoted) return;
  if (changesBetween(withChanges(base, draft.changes), promoted).length === 0) storeDraft(key, null);
}
