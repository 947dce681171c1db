import { api } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';
import { skillKeys } from './skill-keys';

/** Each request counts as a view, so returning to the tab does not refetch. */
const STALE_MS = 60_000;

export const getSkill = (slug: string, headers = {}) =>
  api.skills.GET('/api/v1/skills/{slug}', { params: { path: { slug } }, headers });

export function useSkill(slug: string) {
  return useWorkspaceQuery(
    (workspaceId) => skillKeys.one(workspaceId, slug),
    () => getSkill(slug),
    { enabled: slug !== '', staleTime: STALE_MS, refetchOnWindowFocus: false },
  );
}
