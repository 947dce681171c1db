import { ApiError, type WorkerSchemas } from '@gantry/sdk';
import { useMutation } from '@tanstack/react-query';
import { api } from '../shell/api';
import { loadAllPages } from '../shell/load-all-pages';
import { toastWarnings } from '../shell/toasts';
import { useInvalidateQueries } from '../shell/use-invalidate-queries';
import { usePagedQuery } from '../shell/use-paged-query';
import { useWorkspaceQuery } from '../shell/use-workspace-query';

export type Connection = WorkerSchemas['Connection'];
export type Integration = WorkerSchemas['Integration'];
export type ConnectionTool = WorkerSchemas['ConnectionTool'];

const PAGE_SIZE = 100;

const useInvalidateConnections = () => useInvalidateQueries((workspaceId) => ['connections', workspaceId]);
export const connectionKey = (workspaceId: string | undefined, id: string) => ['connections', workspaceId, 'one', id];
const toPathParams = (id: string) => ({ params: { path: { connection_id: id } } });

/** Lists connections, newest first. */
export function useConnections() {
  return usePagedQuery(
    (workspaceId) => ['connections', workspaceId, 'list'],
    (query) => api.worker.GET('/api/connections', { params: { query } }),
    { pageSize: PAGE_SIZE },
  );
}

/** Lists the newest connections of one app. */
export function useAppConnections(app: string) {
  return useWorkspaceQuery(
    (workspaceId) => ['connections', workspaceId, 'of', app],
    () => api.worker.GET('/api/connections', { params: { query: { app, limit: PAGE_SIZE } } }),
  );
}

export const getConnection = (id: string, headers = {}): Promise<Connection> =>
  api.worker.GET('/api/connections/{connection_id}', { ...toPathParams(id), headers });

export function useConnection(id: string) {
  return useWorkspaceQuery(
    (workspaceId) => connectionKey(workspaceId, id),
    () => getConnection(id),
  );
}

/** Lists the tools of the connection; for an MCP server, also those that are not allowed. */
export function useConnectionTools(id: string) {
  const path = { connection_id: id };
  return useWorkspaceQuery(
    (workspaceId) => [...connectionKey(workspaceId, id), 'tools'],
    () =>
      loadAllPages((page) =>
        api.worker.GET('/api/connections/{connection_id}/tools', { params: { path, query: { all: true, ...page } } }),
      ),
  );
}

export function useCatalogTools(slug: string) {
  return useWorkspaceQuery(
    (workspaceId) => ['connections', workspaceId, 'catalog', slug, 'tools'],
    () =>
      loadAllPages((query) =>
        api.worker.GET('/api/integrations/catalog/{slug}/tools', { params: { path: { slug }, query } }),
      ),
  );
}

/** Lists services that can be connected, with whether their OAuth client is configured. */
export function useCatalog() {
  return useWorkspaceQuery(
    (workspaceId) => ['connections', workspaceId, 'catalog'],
    () => api.worker.GET('/api/integrations/catalog'),
  );
}

/** Absent fields stay unchanged. */
export type ConnectionChange = Partial<
  Pick<Connection, 'label' | 'visibility' | 'hosts' | 'places' | 'allowed_tools' | 'auth_secret'> & {
    value: string;
    url: string;
    headers: Record<string, string>;
  }
>;

/** Mutations of connections; each invalidates their queries. */
export function useConnectionMutations() {
  const onSettled = useInvalidateConnections();
  const change = useMutation({
    onSettled,
    onSuccess: ({ label, warnings }) => toastWarnings(label, warnings),
    mutationFn: ({ id, ...body }: { id: string } & ConnectionChange) =>
      api.worker.PATCH('/api/connections/{connection_id}', { ...toPathParams(id), body }),
  });
  const check = useMutation({
    onSettled,
    mutationFn: ({ id }: Connection) => api.worker.POST('/api/connections/{connection_id}/test', toPathParams(id)),
  });
  const remove = useMutation({
    // Not awaited: the page of the deleted connection would unmount before it could navigate.
    onSettled: () => void onSettled(),
    mutationFn: async ({ id, force = false }: { id: string; force?: boolean }) => {
      const params = { path: { connection_id: id }, query: { force } };
      return api.worker.DELETE('/api/connections/{connection_id}', { params });
    },
  });
  const consent = useMutation({
    mutationFn: async ({ id, scopes }: { id: string; scopes?: string[] }) => {
      const body = scopes ? { scopes } : {};
      return api.worker.POST('/api/connections/{connection_id}/authorize', { ...toPathParams(id), body });
    },
    onSuccess: ({ authorization_url: url }) => window.location.assign(url),
  });
  return { change, check, remove, consent };
}

/** Whether workers declare the connection, so that deleting it needs confirmation. */
export const isInUseError = (error: Error | null): boolean => error instanceof ApiError && error.code === 'in_use';

/** Mutations of the workspace's OAuth client of an app. */
export function useOauthClientMutations() {
  const invalidateConnections = useInvalidateConnections();
  // Not awaited: the form unmounts where the service could not be connected without a client.
  const onSettled = () => void invalidateConnections();
  const set = useMutation({
    onSettled,
    mutationFn: ({ slug, ...body }: { slug: string; client_id: string; client_secret?: string }) =>
      api.worker.PUT('/api/integrations/apps/{slug}', { params: { path: { slug } }, body }),
  });
  const remove = useMutation({
    onSettled,
    mutationFn: (slug: string) => api.worker.DELETE('/api/integrations/apps/{slug}', { params: { path: { slug } } }),
  });
  return { set, remove };
}

interface NewAccount {
  app: string;
  label?: string;
  visibility: 'private' | 'workspace';
  scopes?: string[];
  parameters?: Record<string, string>;
  value?: string;
  hosts?: string[];
}

interface NewServer {
  label: string;
  url: string;
  visibility: 'private' | 'workspace';
  auth?: 'oauth';
  headers?: Record<string, string>;
}

/** Whether a person has to consent at the provider. */
export const needsConsent = ({ kind, issuer }: Connection): boolean => kind === 'oauth' || issuer !== null;

/**
 * Creates a connection. If that needs consent, redirects to the provider.
 * @param onCreated called where no consent is needed
 */
export function useCreateConnection(onCreated: (made: Connection) => void) {
  const invalidateConnections = useInvalidateConnections();
  const onSuccess = async (connection: WorkerSchemas['NewConnection']) => {
    if (connection.authorization_url !== null) return window.location.assign(connection.authorization_url);
    await invalidateConnections();
    toastWarnings(connection.label, connection.warnings);
    onCreated(connection);
  };
  const account = useMutation({
    onSuccess,
    mutationFn: (body: NewAccount) => api.worker.POST('/api/connections', { body }),
  });
  const server = useMutation({
    onSuccess,
    mutationFn: (body: NewServer) => api.worker.POST('/api/connections/mcp', { body }),
  });
  return { account, server };
}
