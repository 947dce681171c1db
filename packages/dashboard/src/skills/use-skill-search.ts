import { keepPreviousData } from '@tanstack/react-query';
import { api, type SkillItem } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';
import { skillKeys } from './skill-keys';

const RESULTS_MAX = 20;

/**
 * Lists the member's own and saved skills, newest first; with a query, searches all skills that the member can read.
 */
export function useSkillSearch(q: string) {
  return useWorkspaceQuery(
    (workspaceId) => skillKeys.list(workspaceId, 'chosen', q),
    (): Promise<SkillItem[]> =>
      q === ''
        ? api.skills.GET('/api/v1/me/skills', { params: { query: { limit: RESULTS_MAX } } })
        : api.skills.GET('/api/v1/search', { params: { query: { q, limit: RESULTS_MAX } } }),
    { placeholderData: keepPreviousData },
  );
}
