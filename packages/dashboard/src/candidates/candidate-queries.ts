/** Queries of candidates. */
import type { QueryClient } from '@tanstack/react-query';
import { type Files, type FilesQuery, toFiles } from '../code/files';
import { api } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

type WorkspaceId = string | undefined;

export const candidateKeys = {
  all: (workspaceId: WorkspaceId) => ['candidates', workspaceId] as const,
  list: (workspaceId: WorkspaceId, workerId: string) => ['candidates', workspaceId, workerId, 'list'] as const,
  one: (workspaceId: WorkspaceId, workerId: string, id: string) =>
    ['candidates', workspaceId, workerId, 'one', id] as const,
  files: (workspaceId: WorkspaceId, id: string) => ['candidate-files', workspaceId, id] as const,
  approval: (workspaceId: WorkspaceId, id: string) => ['approvals', workspaceId, 'candidate', id] as const,
};

/** As many as are shown at once; older ones are of no use. */
const CANDIDATES_MAX = 50;

/** Lists candidates, newest first. */
export function useCandidates(workerId: string) {
  const params = { path: { worker_id: workerId }, query: { limit: CANDIDATES_MAX } };
  return useWorkspaceQuery(
    (workspaceId) => candidateKeys.list(workspaceId, workerId),
    () => api.worker.GET('/api/workers/{worker_id}/candidates', { params }),
  );
}

/** @param candidateId null: there is none yet, and nothing is read */
export function useCandidate(workerId: string, candidateId: string | null) {
  const params = { path: { worker_id: workerId, candidate_id: candidateId ?? '' } };
  return useWorkspaceQuery(
    (workspaceId) => candidateKeys.one(workspaceId, workerId, candidateId ?? ''),
    () => api.worker.GET('/api/workers/{worker_id}/candidates/{candidate_id}', { params }),
    { enabled: candidateId !== null },
  );
}

/** Loads the files of a candidate, which never change. 404 where they are not kept. */
export const candidateFilesQuery = (workspaceId: WorkspaceId, workerId: string, candidateId: string): FilesQuery => ({
  queryKey: candidateKeys.files(workspaceId, candidateId),
  queryFn: async (): Promise<Files> => {
    const params = { path: { worker_id: workerId, candidate_id: candidateId } };
    return toFiles(await api.worker.GET('/api/workers/{worker_id}/candidates/{candidate_id}/files', { params }));
  },
  enabled: workspaceId !== undefined,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Loads the approval of a repair's candidate; null where none was requested. */
export function useCandidateApproval(candidateId: string, isEnabled = true) {
  const params = { query: { candidate_id: candidateId, limit: 1 } };
  return useWorkspaceQuery(
    (workspaceId) => candidateKeys.approval(workspaceId, candidateId),
    async () => (await api.worker.GET('/api/approvals', { params }))[0] ?? null,
    { enabled: isEnabled },
  );
}

/** Invalidates what a decision about a candidate changes. */
export async function invalidateAfterDecision(queryClient: QueryClient, workspaceId: WorkspaceId): Promise<void> {
  for (const noun of ['candidates', 'repairs', 'approvals', 'workers', 'runs']) {
    await queryClient.invalidateQueries({ queryKey: [noun, workspaceId] });
  }
}
