import { keepPreviousData } from '@tanstack/react-query';
import { api, type SearchHit, type SkillItem } from '../../shell/api';
import { usePagedQuery } from '../../shell/use-paged-query';
import { skillKeys } from '../../skills/skill-keys';

export type SkillListKind = 'owned' | 'workspace' | 'saved' | 'deleted';

interface PageQuery {
  limit: number;
  offset: number;
}

/** Lists skills, newest first; with a query, searches all readable skills, best match first. */
export function useSkillList(kind: SkillListKind, q: string) {
  return usePagedQuery<SkillItem | SearchHit>(
    (workspaceId) => skillKeys.list(workspaceId, q ? 'found' : kind, q),
    (page) => (q ? searchSkills(q, page) : listSkills(kind, page)),
    { pageSize: 50, ...(q && { placeholderData: keepPreviousData }) },
  );
}

function searchSkills(q: string, page: PageQuery): Promise<SearchHit[]> {
  return api.skills.GET('/api/v1/search', { params: { query: { q, ...page } } });
}

function listSkills(kind: SkillListKind, page: PageQuery): Promise<SkillItem[]> {
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
