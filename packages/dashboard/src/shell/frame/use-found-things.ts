import { unwrap } from '@gantry/api-client';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from 'react-router';
import { api, skillsApi, workerApi } from '../api';
import { automationPath, skillPath, workerPath } from '../paths';
import { useWorkspace } from '../use-me';
import type { Choice } from './choice';

const EACH = 6;

/** Workers and automations whose name, id or description has the text, and skills that it finds. */
export function useFoundThings(q: string): { found: Choice[]; isLooking: boolean } {
  const navigate = useNavigate();
  const workspaceId = useWorkspace()?.id;
  const asked = { enabled: q !== '' && workspaceId !== undefined, placeholderData: keepPreviousData };
  const workers = useQuery({
    ...asked,
    queryKey: ['workers', workspaceId, 'found', q],
    queryFn: async () => unwrap((await workerApi()).GET('/api/workers', { params: { query: { q, limit: EACH } } })),
  });
  const automations = useQuery({
    ...asked,
    queryKey: ['automations', workspaceId, 'found', q],
    queryFn: () => unwrap(api.GET('/api/automations', { params: { query: { q, limit: EACH } } })),
  });
  const skills = useQuery({
    ...asked,
    queryKey: ['skills', workspaceId, 'list', 'palette', q],
    queryFn: async () => unwrap((await skillsApi()).GET('/api/v1/search', { params: { query: { q, limit: EACH } } })),
  });
  return {
    found: [
      ...(workers.data ?? []).map(
        ({ id, name }): Choice => ({
          id: `worker ${id}`,
          group: 'Worker',
          label: name,
          run: () => navigate(workerPath(id)),
        }),
      ),
      ...(automations.data?.automations ?? []).map(
        ({ id, name }): Choice => ({
          id: `automation ${id}`,
          group: 'Automation',
          label: name,
          run: () => navigate(automationPath(id)),
        }),
      ),
      ...(skills.data ?? []).map(
        ({ slug, title }): Choice => ({
          id: `skill ${slug}`,
          group: 'Skill',
          label: title,
          run: () => navigate(skillPath(slug)),
        }),
      ),
    ],
    isLooking: workers.isFetching || automations.isFetching || skills.isFetching,
  };
}
