/** Queries of candidates. */
import { unwrap } from '@gantry/sdk';
import { type QueryClient, useQuery } from '@tanstack/react-query';
import { type Files, type FilesQuery, toFiles } from '../code/files';
import { workerApi } from '../shell/api';
import { useWorkspace } from '../shell/use-me';

type Scope = string | undefined;

export const candidateKeys = {
  all: (workspaceId: Scope) => ['candidates', workspaceId] as const,
  list: (workspaceId: Scope, workerId: string) => ['candidates', workspaceId, workerId, 'list'] as const,
  one: (workspaceId: Scope, workerId: string, id: string) => ['candidates', workspaceId, workerId, 'one', id] as const,
  files: (workspaceId: Scope, id: string) => ['candidate-files', workspaceId, id] as const,
  approval: (workspaceId: Scope, id: string) => ['approvals', workspaceId, 'candidate', id] as const,
};

/** As many as are shown at once; older ones are of no use. */
const CANDIDATES_MAX = 50;

/** Lists candidates, newest first. */
export function useCandidates(workerId: string) {
  const workspaceId = useWorkspace()?.id;
  const params = { path: { worker_id: workerId }, query: { limit: CANDIDATES_MAX } };
  return useQuery({
    queryKey: candidateKeys.list(workspaceId, workerId),
    enabled: workspaceId !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/workers/{worker_id}/candidates', { params })),
  });
}

/** @param candidateId null: there is none yet, and nothing is read */
export function useCandidate(workerId: string, candidateId: string | null) {
  const workspaceId = useWorkspace()?.id;
  const params = { path: { worker_id: workerId, candidate_id: candidateId ?? '' } };
  return useQuery({
    queryKey: candidateKeys.one(workspaceId, workerId, candidateId ?? ''),
    enabled: workspaceId !== undefined && candidateId !== null,
    queryFn: async () =>
      unwrap((await workerApi()).GET('/api/workers/{worker_id}/candidates/{candidate_id}', { params })),
  });
}

/** Loads the files of a candidate, which never change. 404 where they are not kept. */
export const candidateFilesQuery = (workspaceId: Scope, workerId: string, candidateId: string): FilesQuery => ({
  queryKey: candidateKeys.files(workspaceId, candidateId),
  queryFn: async (): Promise<Files> => {
    const params = { path: { worker_id: workerId, candidate_id: candidateId } };
    const files = (await workerApi()).GET('/api/workers/{worker_id}/candidates/{candidate_id}/files', { params });
    return toFiles(await unwrap(files));
  },
  enabled: workspaceId !== undefined,
  staleTime: Number.POSITIVE_INFINITY,
});

/** Loads the approval of a repair's candidate; null where none was requested. */
export function useCandidateApproval(candidateId: string, isEnabled = true) {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: candidateKeys.approval(workspaceId, candidateId),
    enabled: workspaceId !== undefined && isEnabled,
    queryFn: async () => {
      const params = { query: { candidate_id: candidateId, limit: 1 } };
      const [approval] = await unwrap((await workerApi()).GET('/api/approvals', { params }));
      return approval ?? null;
    },
  });
}

/** Invalidates what a decision about a candidate changes. */
export async function refreshAfterDecision(queryClient: QueryClient, workspaceId: Scope): Promise<void> {
  for (const noun of ['candidates', 'repairs', 'approvals', 'workers', 'runs']) {
    await queryClient.invalidateQueries({ queryKey: [noun, workspaceId] });
  }
}
