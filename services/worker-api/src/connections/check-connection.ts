/** Checks whether a connection works by a request to its service, and lists the tools that it offers. */
import { conflict } from '@gantry/errors';
import { UnreadableSecretError } from '@gantry/vault';
import type { Connection, Prisma } from '../generated/prisma/client';
import { findIntegration } from '../integrations/integrations';
import { toServerKey } from './connection';
import type { ConnectionDeps } from './connection-deps';
import { type Credential, openCredentialOrNull } from './credential';
import { isAmongHosts } from './hosts';
import { McpClientError, type McpServer, type McpTool } from './mcp-client-types';
import { fetchAccountLabel } from './oauth-client';
import { getParameters } from './oauth-config';
import { ProviderError } from './provider-fetch';
import { refreshConnection, refreshIfDue, storeRefreshOutcome } from './refresh';

export interface ConnectionCheck {
  connection: Connection;
  error: string | null;
  toolsCount?: number;
}

/** Keeps what came of it as the connection's status. */
export async function checkConnection(deps: ConnectionDeps, connection: Connection): Promise<ConnectionCheck> {
  const isServer = connection.kind === 'mcp';
  if (connection.status === 'pending') {
    return { connection, error: `${isServer ? 'sign-in has not been completed' : 'consent has not been given'} yet` };
  }
  const fresh = await refreshIfDue(deps, connection);
  if (fresh.status === 'expired') return { connection: fresh, error: fresh.problem };
  if (isServer) return checkServer(deps, fresh);
  const credential = await openCredentialOrNull(deps, fresh);
  if (!credential)
    return storeCheckResult(deps, fresh, new ProviderError('the stored credential cannot be decrypted', true));
  const failure = await fetchConnectionAccount(deps, fresh, credential);
  const isRefused = failure instanceof ProviderError && failure.isFinal;
  const canRefresh = credential.kind === 'oauth' && credential.refreshToken !== null && fresh === connection;
  if (!isRefused || !canRefresh) return storeCheckResult(deps, fresh, failure);
  // A provider that names no time has ended the token.
  const again = await refreshConnection(deps, fresh);
  const renewed = again.status === 'active' ? await openCredentialOrNull(deps, again) : null;
  if (!renewed) return { connection: again, error: again.problem ?? failure.message };
  return storeCheckResult(deps, again, await fetchConnectionAccount(deps, again, renewed));
}

/** @returns whose account it is; null where the service does not say; or what went wrong */
async function fetchConnectionAccount(
  deps: ConnectionDeps,
  connection: Connection,
  credential: Credential,
): Promise<string | null | ProviderError> {
  const integration = await findIntegration(deps, connection.workspaceId, connection.app);
  if (!integration || credential.kind === 'mcp') return null;
  const { provider } = integration;
  if (!provider.account.request) return null;
  const isKey = credential.kind === 'api_key';
  const parameters = getParameters(connection);
  const accountHost = new URL(provider.account.request.url.replaceAll(/\{\w+\}/g, 'x')).host;
  // A key goes to no host but those that were named for it.
  const isAllowedHost = connection.hosts.includes(accountHost) || Boolean(provider.parameters?.length);
  if (isKey && !(provider.keysAreSentAlike && isAllowedHost)) return null;
  const grant = isKey ? { accessToken: credential.value } : credential;
  try {
    return await fetchAccountLabel({ provider, parameters, outbound: { allow: deps.outboundAllow } }, grant, null);
  } catch (err) {
    if (err instanceof ProviderError) return err;
    throw err;
  }
}

async function storeCheckResult(
  deps: ConnectionDeps,
  connection: Connection,
  outcome: string | null | ProviderError,
): Promise<ConnectionCheck> {
  if (!(outcome instanceof ProviderError)) {
    return storeCheck(deps, connection, null, {
      status: 'active',
      problem: null,
      ...(outcome !== null && { accountLabel: outcome }),
    });
  }
  const { message, isFinal } = outcome;
  // A provider that is away says nothing about the credential.
  if (!isFinal) {
    return storeCheck(deps, connection, message, { status: connection.status, problem: connection.problem });
  }
  const status = connection.kind === 'oauth' ? 'expired' : 'error';
  return storeCheck(deps, connection, message, { status, problem: message });
}

async function storeCheck(
  deps: ConnectionDeps,
  connection: Connection,
  error: string | null,
  change: Prisma.ConnectionUncheckedUpdateInput,
): Promise<ConnectionCheck> {
  const checked = { ...change, lastCheckedAt: deps.now() };
  return { connection: await storeRefreshOutcome(deps, connection, checked), error };
}

async function checkServer(deps: ConnectionDeps, connection: Connection): Promise<ConnectionCheck> {
  try {
    const tools = await listServerTools(deps, connection);
    const check = await storeCheck(deps, connection, null, { status: 'active', problem: null });
    return { ...check, toolsCount: filterAllowedTools(connection, tools).length };
  } catch (err) {
    if (!(err instanceof McpClientError)) throw err;
    const problem = err.message.slice(0, 500);
    const status = connection.authorization !== null && err.code === 'unauthorized' ? 'expired' : 'error';
    return storeCheck(deps, connection, problem, { status, problem });
  }
}

/** All of them, in the server's order. @throws McpClientError */
const listServerTools = async (deps: ConnectionDeps, connection: Connection): Promise<McpTool[]> =>
  deps.mcpClient.listTools(await resolveServer(deps, connection));

/** Those that the connection allows, as they were listed last, without asking. */
export const listCachedServerTools = async (
  deps: Pick<ConnectionDeps, 'mcpClient'>,
  connection: Connection,
): Promise<McpTool[]> =>
  filterAllowedTools(connection, (await deps.mcpClient.knownTools(toServerKey(connection))) ?? []);

export function filterAllowedTools({ allowedTools }: Connection, tools: McpTool[]): McpTool[] {
  const allowed = allowedTools as string[] | null;
  if (allowed === null) return tools;
  const names = new Set(allowed);
  return tools.filter(({ name }) => names.has(name));
}

/** With what is sealed for it. @throws McpClientError where its secret is not set, or its headers do not decrypt */
export async function resolveServer(deps: ConnectionDeps, storedConnection: Connection): Promise<McpServer> {
  const connection = await refreshIfDue(deps, storedConnection);
  const { workspaceId, url, authSecret } = connection;
  const credential = await openCredentialOrNull(deps, connection);
  if (connection.authorization !== null) {
    if (credential?.kind !== 'oauth' || connection.status === 'expired') {
      throw new McpClientError(
        'unauthorized',
        connection.problem ?? 'sign-in to the server has not been completed yet',
      );
    }
    const headers = { Authorization: `Bearer ${credential.accessToken}` };
    return { ...toServerKey(connection), url: url ?? '', headers };
  }
  if (credential?.kind !== 'mcp') throw new McpClientError('unauthorized', 'the stored credential cannot be decrypted');
  const headers = { ...credential.headers };
  if (authSecret !== null) {
    const [secret] = await deps.secrets.open(workspaceId, [authSecret]).catch((err) => {
      throw err instanceof UnreadableSecretError ? new McpClientError('unauthorized', err.message) : err;
    });
    if (!secret) throw new McpClientError('unauthorized', `the secret ${authSecret} is not set in this workspace`);
    if (!canSendTo(secret.hosts, url ?? '')) {
      const hosts = secret.hosts.join(', ');
      throw new McpClientError(
        'unauthorized',
        `the secret ${authSecret} can be sent only to ${hosts}, not to this server`,
      );
    }
    headers.Authorization = `Bearer ${secret.value}`;
  }
  return { ...toServerKey(connection), url: url ?? '', headers };
}

/** A secret without hosts may be sent anywhere. */
const canSendTo = (hosts: string[], url: string): boolean => !hosts.length || isAmongHosts(hosts, url);

/**
 * All tools of a server: of one that works as listed within the last ten minutes, else now. What it does wrong is no
 * fault of ours.
 * @throws AppError 409 `mcp_failed`
 */
export async function listToolsForRequest(deps: ConnectionDeps, connection: Connection): Promise<McpTool[]> {
  try {
    const isWorking = connection.status === 'active';
    const known = isWorking ? await deps.mcpClient.knownTools(toServerKey(connection), true) : null;
    return known ?? (await listServerTools(deps, connection));
  } catch (err) {
    if (err instanceof McpClientError) throw conflict('mcp_failed', err.message.slice(0, 500));
    throw err;
  }
}
