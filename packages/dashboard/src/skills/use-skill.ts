import { useQueryClient } from '@tanstack/react-query';
import { api, type Skill } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
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

/** Stores the response of a change in the cache, and invalidates the lists. */
export function useUpdateCachedSkill() {
  const queryClient = useQueryClient();
  const workspaceId = useWorkspace()?.id;
  return (skill: Skill) => {
    queryClient.setQueryData(skillKeys.one(workspaceId, skill.slug), skill);
    void queryClient.invalidateQueries({ queryKey: ['skills', workspaceId, 'list'] });
  };
}
