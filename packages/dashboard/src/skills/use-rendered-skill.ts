import { keepPreviousData } from '@tanstack/react-query';
import { api } from '../shell/api';
import { useWorkspaceQuery } from '../shell/use-workspace-query';
import { skillKeys } from './skill-keys';

/** The same text always gives the same markup; texts older than a minute are rarely needed again. */
const CACHE_MS = 60_000;

/** Renders a text as its public page shows it. The previous result stays until the next one arrives. */
export function useRenderedSkill(title: string, text: string | undefined) {
  return useWorkspaceQuery(
    (workspaceId) => skillKeys.rendered(workspaceId, title, text ?? ''),
    ({ signal }) => api.skills.POST('/api/v1/skills/render', { body: { title, body_md: text ?? '' }, signal }),
    {
      enabled: text !== undefined && text.trim() !== '',
      placeholderData: keepPreviousData,
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: CACHE_MS,
    },
  );
}
