import { unwrap, type WorkerSchemas } from '@gantry/api-client';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { workerApi } from '../../shell/api';
import { useWorkspace } from '../../shell/use-me';

export type Connection = WorkerSchemas['Connection'];
export type Integration = WorkerSchemas['Integration'];

const PAGE_SIZE = 100;

const useConnectionsKey = () => ['connections', useWorkspace()?.id];
const pathOf = (id: string) => ({ params: { path: { connection_id: id } } });

/** Newest first. */
export function useConnections() {
  const key = useConnectionsKey();
  return useInfiniteQuery({
    queryKey: [...key, 'list'],
    enabled: key[1] !== undefined,
    initialPageParam: 0,
    queryFn: async ({ pageParam: offset }) =>
      unwrap((await workerApi()).GET('/api/connections', { params: { query: { limit: PAGE_SIZE, offset } } })),
    getNextPageParam: (page, pages) => (page.length === PAGE_SIZE ? pages.flat().length : undefined),
  });
}

/** Services that can be connected, with whether somebody has set their OAuth client. */
export function useCatalog() {
  const key = useConnectionsKey();
  return useQuery({
    queryKey: [...key, 'catalog'],
    enabled: key[1] !== undefined,
    queryFn: async () => unwrap((await workerApi()).GET('/api/integrations/catalog')),
  });
}

/** Each makes what is shown of connections be read again. */
export function useConnectionChanges() {
  const key = useConnectionsKey();
  const queryClient = useQueryClient();
  const onSettled = () => queryClient.invalidateQueries({ queryKey: key });
  const check = useMutation({
    onSettled,
    mutationFn: async ({ id }: Connection) =>
      unwrap((await workerApi()).POST('/api/connections/{connection_id}/test', pathOf(id))),
  });
  const remove = useMutation({
    onSettled,
    mutationFn: async ({ id }: Connection) =>
      unwrap((await workerApi()).DELETE('/api/connections/{connection_id}', pathOf(id))),
  });
  const consent = useMutation({
    mutationFn: async ({ id }: Connection) =>
      unwrap((await workerApi()).POST('/api/connections/{connection_id}/authorize', pathOf(id))),
    onSuccess: ({ authorization_url: url }) => window.location.assign(url),
  });
  return { check, remove, consent };
}

export interface NewAccount {
  app: string;
  label?: string;
  visibility: 'private' | 'workspace';
  scopes?: string[];
  parameters?: Record<string, string>;
  value?: string;
  hosts?: string[];
}

export interface NewServer {
  label: string;
  url: string;
  visibility: 'private' | 'workspace';
  headers?: Record<string, string>;
}

/** Of OAuth the browser goes on to the provider. @param onMade where nobody has to consent */
export function useNewConnection(onMade: (made: Connection) => void) {
  const key = useConnectionsKey();
  const queryClient = useQueryClient();
  const onSuccess = async (made: WorkerSchemas['NewConnection']) => {
    if (made.authorization_url !== null) return window.location.assign(made.authorization_url);
    await queryClient.invalidateQueries({ queryKey: key });
    onMade(made);
  };
  const account = useMutation({
    onSuccess,
    mutationFn: async (body: NewAccount) => unwrap((await workerApi()).POST('/api/connections', { body })),
  });
  const server = useMutation({
    onSuccess,
    mutationFn: async (body: NewServer) => unwrap((await workerApi()).POST('/api/connections/mcp', { body })),
  });
  return { account, server };
}
