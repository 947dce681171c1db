import type { QueryClient } from '@tanstack/react-query';
import { candidateFilesQuery } from '../../candidates/candidate-queries';
import { applyChanges, diffFiles, type Files } from '../../code/files';
import { loadDraft, storeDraft } from '../../code/stored-draft';
import type { CandidateDetail } from '../../shell/api';
import { versionFilesQuery } from '../../workers/version-files';

/** Deletes the draft that the candidate was made from, because it is a version now. */
export function clearPromotedDraft(
  queryClient: QueryClient,
  workspaceId: string | undefined,
  { id, worker_id: workerId, base_sha: baseSha }: CandidateDetail,
): void {
  const key = `${workspaceId}.${workerId}`;
  const draft = loadDraft(key);
  const base = queryClient.getQueryData<Files>(versionFilesQuery(workspaceId, workerId, baseSha).queryKey);
  const promoted = queryClient.getQueryData<Files>(candidateFilesQuery(workspaceId, workerId, id).queryKey);
  if (draft?.baseSha !== baseSha || !base || !promoted) return;
  if (diffFiles(applyChanges(base, draft.changes), promoted).length === 0) storeDraft(key, null);
}
