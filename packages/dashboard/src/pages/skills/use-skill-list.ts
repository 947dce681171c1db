import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { api, type SearchHit, type SkillItem } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';
import { skillKeys } from '../../skills/skill-keys';

export type SkillListKind = 'owned' | 'workspace' | 'saved' | 'deleted';

const PAGE_SIZE = 50;

/** Lists skills, newest first; with a query, searches all readable skills, best match first. */
export function useSkillList(kind: SkillListKind, q: string) {
  const workspaceId = useWorkspace()?.id;
  return useInfiniteQuery({
    queryKey: skillKeys.list(workspaceId, q ? 'found' : kind, q),
    queryFn: ({ pageParam: offset }) => (q ? searchSkills(q, offset) : listSkills(kind, offset)),
    initialPageParam: 0,
    getNextPageParam: (last, pages) => (last.length === PAGE_SIZE ? pages.length * PAGE_SIZE : null),
    enabled: workspaceId !== undefined,
    ...(q && { placeholderData: keepPreviousData }),
  });
}

function searchSkills(q: string, offset: number): Promise<SearchHit[]> {
  return api.skills.GET('/api/v1/search', { params: { query: { q, limit: PAGE_SIZE, offset } } });
}

function listSkills(kind: SkillListKind, offset: number): Promise<SkillItem[]> {
  const page = { limit: PAGE_SIZE, offset };
  switch (kind) {
    case 'workspace':
      return api.skills.GET('/api/v1/workspace/skills', { params: { query: page } });
    case 'saved':
      return api.skills.GET('/api/v1/me/library', { params: { query: page } });
    case 'deleted':
      return api.skills.GET('/api/v1/me/skills', { params: { query: { ...page, deleted: true } } });
    default:
      return api.skills.GET('/api/v1/me/skills', { params: { query: { ...page, relation: 'owned' } } });
  }
}
