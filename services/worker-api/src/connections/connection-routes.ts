import type { Identity } from '@gantry/events';
import {
  buildLinkActor,
  type Call,
  created,
  noContent,
  type Operations,
  ok,
  respondWithCountedPage,
  respondWithPage,
} from '@gantry/http';
import { hasRoleAtLeast, type Principal } from '@gantry/limits';
import { listWeakValueWarnings } from '@gantry/vault';
import type { Request, Response } from 'express';
import { listDeclaringWorkers } from '../declarations/declaring-workers';
import type { Connection } from '../generated/prisma/client';
import { toolToApi } from '../integrations/integration-routes';
import { buildIssuerRedirectUri, buildRedirectUri, findIntegration } from '../integrations/integrations';
import {
  type CallbackParameters,
  completeAuthorization,
  reauthorizeConnection,
  startOauthConnection,
  startServerConnection,
} from './authorize';
import { sendCallbackPage } from './callback-page';
import { checkConnection, filterAllowedTools, listToolsForRequest } from './check-connection';
import { assertCanManageConnection, canManageConnection, connectionToApi, statusToApi } from './connection';
import type { AuthorizationDeps } from './connection-deps';
import { findConnectionInWorkspaces, getConnection, listConnections } from './connection-repository';
import { createKeyConnection, createMcpConnection, editConnection, removeConnection } from './connection-service';
import { buildClientDocument } from './mcp-server-authorization';
import { consumePendingAuthorization } from './pending-authorization-repository';
import { ProviderError } from './provider-fetch';

export interface ConnectionRouteDeps extends AuthorizationDeps {
  /** The user who is signed in with the requesting browser; null: none. */
  identifyVisitor(req: Request): Promise<Identity | null>;
}

type ConnectionRequest = Pick<Call<{ connection_id: string }>, 'caller' | 'path'>;

export function createConnectionOperations(deps: ConnectionRouteDeps): Operations<'worker'> {
  const { prisma, pool, now } = deps;
  const getVisibleConnection = ({ caller }: Pick<Call, 'caller'>, id: string) =>
    getConnection(prisma, caller.workspaceId, caller, id);
  const getRequestedConnection = ({ caller, path }: ConnectionRequest) =>
    getVisibleConnection({ caller }, path.connection_id);

  async function loadConnectionDetails({ caller }: Pick<Call, 'caller'>, connection: Connection) {
    const declaring = await listDeclaringWorkers(pool, caller.workspaceId, 'connections');
    return connectionToApi({ connection, caller, usedBy: filterDeclaringWorkers(declaring, connection) });
  }

  /** Without an authorization, there is nothing to consent to. */
  const toCreatedResponse = async (
    call: Pick<Call, 'caller'>,
    { connection, authorizationUrl }: { connection: Connection; authorizationUrl?: string },
    warnings: ReturnType<typeof listWeakValueWarnings> = {},
  ) =>
    created({
      ...(await loadConnectionDetails(call, connection)),
      ...warnings,
      authorization_url: authorizationUrl ?? null,
    });

  return {
    listConnections: async (call) => {
      const { caller, query } = call;
      const { workspaceId } = caller;
      const [{ connections, total }, declaringWorkers] = await Promise.all([
        listConnections(prisma, workspaceId, caller, query),
        listDeclaringWorkers(pool, workspaceId, 'connections'),
      ]);
      return respondWithCountedPage(call, connections, total, (connection) =>
        connectionToApi({ connection, caller, usedBy: filterDeclaringWorkers(declaringWorkers, connection) }),
      );
    },

    createConnection: {
      create: async (call) => {
        const { body } = call;
        const kind = body.kind ?? (body.value === undefined ? 'oauth' : 'api_key');
        if (kind === 'api_key') {
          const connection = await createKeyConnection(deps, call, body);
          return toCreatedResponse(call, { connection }, listWeakValueWarnings(body.value, connection.hosts));
        }
        return toCreatedResponse(call, await startOauthConnection(deps, call, body));
      },
      assertVisible: getVisibleConnection,
    },

    createMcpConnection: {
      create: async (call) => {
        if (call.body.auth === 'oauth') {
          return toCreatedResponse(call, await startServerConnection(deps, call, call.body));
        }
        return toCreatedResponse(call, { connection: await createMcpConnection(deps, call, call.body) });
      },
      assertVisible: getVisibleConnection,
      answer: async (call, id) => toCreatedResponse(call, { connection: await getVisibleConnection(call, id) }),
    },

    getConnection: async (call) => ok(await loadConnectionDetails(call, await getRequestedConnection(call))),
    getConnectionStatus: async (call) => ok(statusToApi(await getRequestedConnection(call))),
    updateConnection: async (call) => {
      const connection = await editConnection(deps, call, call.path.connection_id, call.body);
      return ok({
        ...(await loadConnectionDetails(call, connection)),
        ...listWeakValueWarnings(call.body.value, connection.hosts),
      });
    },
    deleteConnection: async (call) => {
      await removeConnection(deps, call, call.path.connection_id, call.query.force);
      return noContent();
    },

    testConnection: async (call) => {
      const before = await getRequestedConnection(call);
      assertCanManageConnection(call.caller, before);
      const { connection, error, toolsCount } = await checkConnection(deps, before);
      return ok({
        ok: error === null,
        status: connection.status,
        error,
        account_label: connection.accountLabel,
        ...(toolsCount !== undefined && { tools_count: toolsCount }),
        tested_at: now().toISOString(),
      });
    },

    listConnectionTools: async (call) => {
      const connection = await getRequestedConnection(call);
      if (connection.kind === 'mcp') {
        const all = await listToolsForRequest(deps, connection);
        const allowed = new Set(filterAllowedTools(connection, all));
        const listed = call.query.all ? all : [...allowed];
        return respondWithPage(call, listed, (tool) => ({ ...toolToApi(tool), allowed: allowed.has(tool) }));
      }
      const integration = await findIntegration(deps, call.caller.workspaceId, connection.app);
      return respondWithPage(call, [...(integration?.provider.tools ?? [])], toolToApi);
    },

    authorizeConnection: async (call) => {
      const { connection_id: id } = call.path;
      const { authorizationUrl } = await reauthorizeConnection(deps, call.caller, id, call.body?.scopes);
      return ok({ id, authorization_url: authorizationUrl });
    },

    getOauthClient: async () => ok(buildClientDocument(deps)),
    getOauthClientOfIssuer: async ({ path }) => ok(buildClientDocument(deps, path.issuer_digest)),
    finishConnection: ({ req, res, query }) =>
      handleCallback(deps, req, res, { ...query, redirectUri: buildRedirectUri(deps) }),
    finishConnectionOfIssuer: ({ req, res, query, path }) =>
      handleCallback(deps, req, res, { ...query, redirectUri: buildIssuerRedirectUri(deps, path.issuer_digest) }),
  };
}

const filterDeclaringWorkers = (
  declaringWorkers: Awaited<ReturnType<typeof listDeclaringWorkers>>,
  { id, app }: Connection,
) => {
  const all = [...(declaringWorkers.get(app) ?? []), ...(declaringWorkers.get(id) ?? [])];
  return [...new Map(all.map((worker) => [worker.id, worker])).values()];
};

async function handleCallback(
  deps: ConnectionRouteDeps,
  req: Request,
  res: Response,
  callback: CallbackParameters,
): Promise<void> {
  const { dashboardUrl, log } = deps;
  const toConnections = { href: `${dashboardUrl}/connections`, label: 'Back to connections' };
  const sendRefusal = (text: string, link = toConnections) =>
    sendCallbackPage(res, 400, { title: 'Not connected', text, link, closes: false });
  const visitor = await deps.identifyVisitor(req);
  if (!visitor?.userId) {
    const link = { href: `${dashboardUrl}/sign-in`, label: 'Sign in' };
    return sendRefusal(
      'Sign in to the dashboard in this browser as the user who started this sign-in, then reload this page.',
      link,
    );
  }
  const { state = '' } = callback;
  const departure = state ? await consumePendingAuthorization(deps.prisma, state, visitor.userId, deps.now()) : null;
  if (!departure) {
    return sendRefusal(
      'This sign-in has already been used, is more than ten minutes old or belongs to another user. Start again.',
    );
  }
  const connection = await findConnectionInWorkspaces(
    deps.prisma,
    Object.keys(visitor.memberships),
    departure.connectionId,
  );
  const principal = connection && toWorkspacePrincipal(connection.workspaceId, visitor);
  if (!principal || !hasRoleAtLeast(principal.role, 'member') || !canManageConnection(principal, connection)) {
    return sendRefusal('The connection no longer exists, or you can no longer change it.');
  }
  try {
    const actor = { ...buildLinkActor(req, 'link'), kind: 'session', id: visitor.userId, label: visitor.email };
    const { label, accountLabel } = await completeAuthorization(deps, actor, connection, departure, state, callback);
    const accountSuffix = accountLabel === null ? '' : ` as ${accountLabel}`;
    const link = { href: `${dashboardUrl}/connections/${connection.id}`, label: 'Go to the connection' };
    sendCallbackPage(res, 200, {
      title: 'Connected',
      text: `${label} is connected${accountSuffix}.`,
      link,
      closes: true,
    });
  } catch (err) {
    if (!(err instanceof ProviderError)) throw err;
    log.info({ err, connectionId: connection.id, requestId: req.id }, 'an account could not be connected');
    sendRefusal(`${connection.label} is not connected: ${err.message}.`);
  }
}

function toWorkspacePrincipal(
  workspaceId: string,
  { expiresAt: _, defaultWorkspaceId: __, ...identity }: Identity,
): Principal | null {
  const role = identity.memberships[workspaceId];
  return role ? { ...identity, workspaceId, role } : null;
}
