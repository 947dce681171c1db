import { unwrap } from '@gantry/sdk';
import { useQuery } from '@tanstack/react-query';
import { skillsApi } from '../shell/api';
import { useWorkspace } from '../shell/use-me';
import { skillKeys } from './skill-keys';

/** Each request counts as a view, so returning to the tab does not refetch. */
const STALE_MS = 60_000;

export const getSkill = async (slug: string, headers = {}) =>
  unwrap((await skillsApi()).GET('/api/v1/skills/{slug}', { params: { path: { slug } }, headers }));

export function useSkill(slug: string) {
  const workspaceId = useWorkspace()?.id;
  return useQuery({
    queryKey: skillKeys.one(workspaceId, slug),
    queryFn: () => getSkill(slug),
    enabled: workspaceId !== undefined && slug !== '',
    staleTime: STALE_MS,
    refetchOnWindowFocus: false,
  });
}
