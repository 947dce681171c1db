import type { Clients } from '@gantry/sdk';
import type { QueryKey } from '@tanstack/react-query';
import { getWorkerApi } from './api';
import { useWorkspaceQuery, type WorkspaceQueryOptions } from './use-workspace-query';

/** Queries the worker surface in the current workspace. @param buildKey from the id of the workspace */
export const useWorkerQuery = <Loaded, Data = Loaded>(
  buildKey: (workspaceId: string | undefined) => QueryKey,
  load: (api: Clients['worker']) => Promise<Loaded>,
  options?: WorkspaceQueryOptions<Loaded, Data>,
) => useWorkspaceQuery(buildKey, async () => load(await getWorkerApi()), options);
